import AsyncHTTPClient
import GotchuAPI
import GotchuCore
import Logging
import PaymentClient
import Radio
import TestSupport
import Testing

@testable import GotchuDaemon

/// Tests of a payment that requires a tap, from the radio to the journal, while the payment
/// server's answers are late or missing.
@Suite("A tap and a payment server that answers late")
struct NearestTillTests {
    /// A payer's presences and payments on the simulated air, with a payment server on loopback.
    private final class Payer: Sendable {
        let server: LateServer
        let presences: PresenceService
        let payments: PaymentService
        private let radio: SimulatedRadio
        private let air: String
        private let folder: TemporaryFolder

        init() throws {
            folder = try TemporaryFolder()
            server = try LateServer()
            air = "\(folder.path)/air"
            radio = SimulatedRadio(folder: air, name: "payer", position: AirPosition(x: 0, y: 0))
            var configuration = DaemonConfiguration()
            configuration.stateDirectory = folder.path
            configuration.server = try #require(ServerURL("http://127.0.0.1:\(server.port)"))
            _ = try folder.write(Bench.token(of: "ann"), to: "token")
            let core = DaemonCore(
                configuration,
                http: HTTPClient.shared,
                journal: MemoryJournal(),
                credentials: nil,
                logger: RecordedLog(level: .debug).logger
            )
            let resolver = SessionResolver(client: core.client)
            presences = PresenceService(
                radio: radio,
                listen: .always,
                policy: ProximityPolicy(),
                calibrations: CalibrationStore(stateDirectory: folder.path),
                resolver: resolver,
                hub: core.hub,
                recorder: SightingRecorder()
            ) { _ in }
            payments = PaymentService(core, proximity: presences, sessions: resolver)
        }

        /// Runs the payer's services around `body`, with one radio for each group of EIDs.
        func run(
            beside groups: [(eids: [EID], metres: Double)],
            _ body: @escaping @Sendable () async throws -> Void
        ) async throws {
            defer { server.stop() }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (index, sender) in groups.enumerated() {
                    let position = AirPosition(x: sender.metres, y: 0)
                    let till = SimulatedRadio(folder: air, name: "till\(index)", position: position)
                    for eid in sender.eids { try await till.startAdvertising(eid) }
                    group.addTask { try await till.run { _ in } }
                }
                group.addTask { try await self.radio.run { self.presences.apply($0) } }
                group.addTask { try await self.presences.run() }
                try await body()
                group.cancelAll()
            }
        }

        /// Tries to pay with a tap. Returns `nil` if the payment was journalled, otherwise the code
        /// of the refusal.
        func pay(_ eid: EID) async throws -> ErrorCode? {
            let wish = NewPayment(eid: eid, confirmAmountCents: 500, proximity: .tap)
            do {
                _ = try await payments.create(wish, key: nil)
                return nil
            } catch {
                return error.errorCode ?? .internalError
            }
        }

        func heard(_ eids: [EID]) async throws {
            try await eventually("all EIDs are heard") {
                let heard = Set(self.presences.presences().map(\.eid))
                return heard.isSuperset(of: eids) ? true : nil
            }
        }
    }

    private let eid = EID(literal: "aaaaaaaaaa")
    private let other = EID(literal: "bbbbbbbbbb")
    private let session: SessionID
    private let neighbour: SessionID

    init() throws {
        session = try #require(SessionID(rawValue: "session-a"))
        neighbour = try #require(SessionID(rawValue: "session-b"))
    }

    @Test("No order and delay of answers pays a till with another till or an unknown EID as near")
    func anyOrder() async throws {
        var random = SeededGenerator("tills with late answers")
        var trials: [(isNear: Bool, delays: [Duration], forged: [LateServer.Reply])] = []
        for index in 0..<10 * effort {
            let delays = (0..<6).map { _ in
                Duration.milliseconds(Int.random(in: 0...1_800, using: &random))
            }
            let forged: [LateServer.Reply] = (0..<Int.random(in: 0...4, using: &random)).map { _ in
                Int.random(in: 0..<6, using: &random) == 0 ? .nothing : .noSession
            }
            trials.append((isNear: index.isMultiple(of: 2), delays: delays, forged: forged))
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for trial in trials {
                group.addTask { try await self.pay(trial.isNear, trial.delays, trial.forged) }
            }
            try await group.waitForAll()
        }
        // A till without another one as near is paid, so the trials above prove something.
        let payer = try Payer()
        payer.server.reply(to: eid, .session(session), after: .zero)
        payer.server.reply(to: other, .session(neighbour), after: .zero)
        try await payer.run(beside: [([eid], 0.06), ([other], 1)]) {
            _ = try await eventually("the near till is paid") {
                try await payer.pay(self.eid) == nil ? true : nil
            }
        }
    }

    /// Tries four times to pay one of two tills with a tap. The first till is near, and so are EIDs
    /// that the server does not know.
    private func pay(
        _ isNear: Bool,
        _ delays: [Duration],
        _ forged: [LateServer.Reply]
    ) async throws {
        let payer = try Payer()
        payer.server.reply(to: eid, .session(session), after: delays[0])
        payer.server.reply(to: other, .session(neighbour), after: delays[1])
        let strangers = forged.map { _ in EID.random() }
        for (index, stranger) in strangers.enumerated() {
            payer.server.reply(to: stranger, forged[index], after: delays[index + 2])
        }
        let tills = [([eid], 0.06), ([other], isNear ? 0.06 : 1), (strangers, 0.06)]
        try await payer.run(beside: tills) {
            for wanted in [self.eid, self.other, self.eid, self.eid] {
                guard try await payer.pay(wanted) == nil else { continue }
                let context = "\(wanted), another till near: \(isNear), \(delays), \(forged)"
                #expect(!isNear && wanted == self.eid, "\(context)")
                #expect(payer.server.answered.isSuperset(of: strangers), "\(context)")
                #expect(payer.server.answered.contains(wanted), "\(context)")
            }
        }
    }

    @Test("A payment asks about three EIDs without an answer at once, and is then made")
    func foreground() async throws {
        let payer = try Payer()
        let strangers = (0..<3).map { _ in EID.random() }
        payer.server.reply(to: eid, .session(session))
        // The background asks about them one after the other.
        for stranger in strangers {
            payer.server.reply(to: stranger, .noSession, after: .seconds(2))
        }
        try await payer.run(beside: [([eid], 0.06), (strangers, 0.06)]) {
            try await payer.heard(strangers + [self.eid])
            #expect(try await payer.pay(self.eid) == nil)
            #expect(payer.server.answered.isSuperset(of: strangers))
        }
    }

    @Test("A payment is refused as ambiguous while an EID as near has no answer, or too many have")
    func missing() async throws {
        let payer = try Payer()
        let strangers = (0..<4).map { _ in EID.random() }
        payer.server.reply(to: eid, .session(session))
        for stranger in strangers { payer.server.reply(to: stranger, .nothing) }
        try await payer.run(beside: [([eid], 0.06), (strangers, 0.06)]) {
            try await payer.heard(strangers + [self.eid])
            #expect(try await payer.pay(self.eid) == .ambiguous)
            for stranger in strangers { payer.server.reply(to: stranger, .noSession) }
            try await eventually("the till is paid after at most two attempts more") {
                try await payer.pay(self.eid) == nil ? true : nil
            }
        }
    }

    @Test("Two far tills with a slow server are paid without a wait for the other's answer")
    func apart() async throws {
        let payer = try Payer()
        payer.server.reply(to: eid, .session(session), after: .seconds(1))
        payer.server.reply(to: other, .nothing, after: .seconds(30))
        try await payer.run(beside: [([eid], 0.06), ([other], 0.8)]) {
            try await payer.heard([self.eid, self.other])
            #expect(try await payer.pay(self.eid) == nil)
        }
    }

    @Test("The second EID of a session is no rival once the server has answered about it")
    func rotated() async throws {
        let payer = try Payer()
        payer.server.reply(to: eid, .session(session))
        payer.server.reply(to: other, .session(session), after: .seconds(1))
        try await payer.run(beside: [([eid, other], 0.06)]) {
            try await payer.heard([self.eid, self.other])
            #expect(try await payer.pay(self.eid) == nil)
        }
    }
}
