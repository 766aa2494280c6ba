import FoundationEssentials
import GotchuAPI
import GotchuCore
import LocalAPI
import Logging
import PaymentClient
import Radio
import Synchronization
import TestSupport
import Testing

@testable import GotchuDaemon

/// A daemon for tests, with a scripted server, a journal in memory, a test clock and a simulated
/// radio.
struct Bench {
    static let server = "http://127.0.0.1:1"

    let folder: TemporaryFolder
    let journal: MemoryJournal
    let server: ScriptedServer
    let clock = TestClock()
    let proximity = StubProximity()
    let log = RecordedLog(level: .debug)
    let core: DaemonCore
    let payments: PaymentService
    let requests: RequestService

    /// - Parameters:
    ///   - records: The journal of an earlier run.
    ///   - server: The server of the earlier run; by default a new one.
    ///   - user: The user who is logged in, or a device's credential; `nil` for no login.
    ///   - tokenFile: The operator's token file.
    ///   - url: The URL of the configured payment server.
    init(
        _ records: [JournalRecord] = [],
        server: ScriptedServer? = nil,
        user: String? = "ann",
        tokenFile: String? = nil,
        url: String = Self.server
    ) throws {
        folder = try TemporaryFolder()
        journal = MemoryJournal(records)
        self.server = server ?? ScriptedServer()
        self.server.watch(journal)
        var configuration = DaemonConfiguration()
        configuration.stateDirectory = folder.path
        configuration.tokenFile = tokenFile
        configuration.server = try #require(ServerURL(url))
        if let user {
            _ = try folder.write(Self.token(of: user), to: "token")
        }
        core = DaemonCore(
            configuration,
            http: self.server,
            journal: journal,
            credentials: nil,
            logger: log.logger
        )
        payments = PaymentService(
            core,
            proximity: proximity,
            sessions: SessionResolver(client: core.client),
            clock: clock
        )
        requests = RequestService(
            client: core.client,
            tokens: core.tokens,
            radio: SimulatedRadio(kioskIn: folder),
            eidLifetime: nil,
            journal: journal,
            hub: core.hub,
            logger: log.logger
        )
    }

    /// Returns an unsigned JSON Web Token of a user. A device's credential is returned unchanged.
    static func token(of user: String) -> String {
        if user.hasPrefix("gotchu-device.") { return user }
        let claims = Data(#"{"sub":"\#(user)"}"#.utf8).base64EncodedString()
        return "e30.\(claims.replacing("=", with: "")).x"
    }

    static let wish = NewPayment(
        eid: EID(literal: ScriptedServer.eid),
        confirmAmountCents: 500
    )

    /// Agrees to a payment, and returns its id. The payment makes no call yet.
    func agree(_ wish: NewPayment = Self.wish) async throws -> String {
        try await payments.create(wish, key: nil).view.id
    }

    /// Drives every open payment to its end.
    func drive(isResumed: Bool = false) async {
        for view in await payments.views() where !view.state.isFinal {
            await payments.drive(view.id, isResumed: isResumed)
        }
    }

    /// Drives a payment to its first wait or its end, and then cancels its driver, like a crash.
    func driveToWait(_ id: String, isResumed: Bool = false) async {
        let wait = clock.holdNextSleep()
        // SAFETY: ended and awaited here.
        let driver = Task {
            await payments.drive(id, isResumed: isResumed)
            wait.leave()
        }
        await wait.reached()
        driver.cancel()
        await driver.value
    }

    /// Agrees to a payment, drives it to its end, and returns its view.
    func pay() async throws -> PaymentView {
        let id = try await agree()
        await payments.drive(id, isResumed: false)
        return try await payments.view(of: id)
    }
}

/// A stub of the presences that has one verdict for all EIDs. A test sets the verdict.
final class StubProximity: SessionProximity {
    private let verdict = Mutex<Verdict?>(nil)
    private let ended = Mutex<[SessionID]>([])
    private let listened = Mutex(0)

    func listenForPresences() async { listened.withLock { $0 += 1 } }
    /// The number of times that a caller made the radio listen.
    var listenCount: Int { listened.withLock(\.self) }
    func hear(_ new: Verdict?) { verdict.withLock { $0 = new } }
    var endedSessions: [SessionID] { ended.withLock(\.self) }

    func verdict(on eid: EID) -> Verdict? { verdict.withLock(\.self) }
    func verdict(on session: SessionID) -> Verdict? { verdict.withLock(\.self) }
    func resolveRivals(of session: SessionID) async -> Int { 0 }
    func nearSince(_ eid: EID) -> MonotonicTime? { .now }
    func end(_ session: SessionID) { ended.withLock { $0.append(session) } }
}
