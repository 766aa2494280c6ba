import Crypto
import FoundationEssentials
import Glibc
import GotchuAPI
import GotchuCore
import LocalAPI
import Screens
import ServiceProcess
import Synchronization

/// The paired tills, in memory and in the file `screens.json` of the state folder.
final class TillService: LocalPairings, TillRegistry {
    /// The maximum number of paired tills.
    static let tillLimit = 32

    private struct Contents: Codable {
        var tills: [Till]
    }

    private struct State {
        var pairings = Pairings()
        var tills: [Till]
    }

    private let path: String
    private let endStreams: @Sendable () -> Void
    private let state: Mutex<State>
    /// The lock for counting and making a refund. Without it, a repeated call could rely on a count
    /// that is removed a moment later.
    private let refunding = AsyncLock()
    /// A Boolean that is true if the file could not be read. Then no till is known.
    let wasUnreadable: Bool

    /// - Parameter endStreams: Ends all event streams. Readers that are still allowed reconnect.
    init(stateDirectory: String, endStreams: @escaping @Sendable () -> Void) {
        path = stateDirectory + "/screens.json"
        self.endStreams = endStreams
        let data = FileManager.default.contents(atPath: path)
        let read = data.flatMap { try? JSONDecoder().decode(Contents.self, from: $0) }
        wasUnreadable = data != nil && read == nil
        state = Mutex(State(tills: read?.tills ?? []))
    }

    func approve(
        _ code: String,
        as new: NewPairing,
        by userID: UInt32
    ) throws(Problem) -> PairingView {
        let digits = String(code.filter { $0 != " " })
        return try state.withLock { state throws(Problem) in
            guard !state.tills.contains(where: { $0.name == new.name }),
                !state.pairings.isNameTaken(new.name)
            else {
                throw Problem(
                    .validationError,
                    detail: "There is a till \(new.name) already.",
                    fix: "gotchu-ctl till list"
                )
            }
            guard state.tills.count < Self.tillLimit else {
                throw Problem(
                    .rateLimited,
                    detail: "There are \(Self.tillLimit) tills already.",
                    fix: "gotchu-ctl till list"
                )
            }
            switch state.pairings.approve(digits, as: new, by: userID, at: .now) {
            case .approved: break
            case .wrong(let left):
                throw Problem(
                    .notFound,
                    detail: "No till's page shows this code. Tries left: \(left).",
                    fix: "Type the code that the page shows now."
                )
            case .blocked:
                throw Problem(
                    .rateLimited,
                    detail: "\(Pairings.wrongLimit) codes that you typed were wrong.",
                    fix: "Wait for two minutes, and type the code that the page shows then."
                )
            }
            return PairingView(
                name: new.name,
                createdAt: .now,
                refundsPerDayCents: new.refundsPerDayCents,
                refundedTodayCents: new.refundsPerDayCents.map { _ in 0 }
            )
        }
    }

    func views() -> [PairingView] {
        let day = Self.today
        return state.withLock(\.tills).map { $0.view(on: day) }.sorted { $0.name < $1.name }
    }

    func revoke(_ name: String) throws(Problem) -> PairingView {
        let view = try state.withLock { state throws(Problem) in
            guard let till = state.tills.first(where: { $0.name == name }) else {
                throw Problem(
                    .notFound,
                    detail: "There is no till with that name.",
                    fix: "gotchu-ctl till list"
                )
            }
            try write(state.tills.filter { $0.name != name }, to: &state)
            return till.view(on: Self.today)
        }
        endStreams()
        return view
    }

    func begin(by userID: UInt32) throws(Problem) -> PairingOffer {
        let ticket = Self.secret()
        let code = state.withLock { state in
            var random = SystemRandomNumberGenerator()
            return state.pairings.begin(
                ticket: Self.hash(ticket),
                by: userID,
                at: .now,
                using: &random
            )
        }
        guard let code else {
            throw Problem(
                .rateLimited,
                detail:
                    "\(Pairings.userLimit) pages of this user, or \(Pairings.pendingLimit) of all, "
                    + "wait to be paired already.",
                fix: "Wait for two minutes."
            )
        }
        return PairingOffer(code: code, ticket: ticket)
    }

    func outcome(ofTicket ticket: String) throws(Problem) -> PairingOutcome {
        try state.withLock { state throws(Problem) in
            switch state.pairings.outcome(of: Self.hash(ticket), at: .now) {
            case .waiting: return PairingOutcome(state: .waiting)
            case .expired: return PairingOutcome(state: .expired)
            case .approved(let new):
                let token = Self.secret()
                let till = Till(
                    name: new.name,
                    hash: Self.hash(token),
                    createdAt: .now,
                    refundsPerDayCents: new.refundsPerDayCents
                )
                try write(state.tills + [till], to: &state)
                return PairingOutcome(state: .paired, token: token)
            }
        }
    }

    func till(ofToken token: String) -> PairingView? {
        let hash = Self.hash(token)
        return state.withLock { $0.tills.first { $0.hash == hash } }?.view(on: Self.today)
    }

    /// Counts a refund against the till's limit, durably, and then makes it.
    func refund(
        _ new: NewRefund,
        byToken token: String,
        make: @Sendable (NewRefund) async throws(Problem) -> Created<PaymentView>
    ) async throws(Problem) -> Created<PaymentView> {
        guard let cents = new.amountCents else { throw .invalid("amount_cents is missing.") }
        let (hash, day) = (Self.hash(token), Self.today)
        let wish = Self.hash("\(new.sid)\n\(cents)\n\(new.reference ?? "")")
        await refunding.lock()
        defer { refunding.unlock() }
        let isCounted = try state.withLock { state throws(Problem) in
            try change(hash, in: &state) { till throws(Problem) in
                guard let isCounted = till.reserve(cents, as: wish, on: day) else {
                    throw Self.limit(of: till, on: day)
                }
                return isCounted
            }
        }
        do throws(Problem) {
            let created = try await make(new)
            // The refund was made earlier, but this count did not have it. It does not count
            // against the limit.
            if created.isReplay, isCounted { release(wish, of: hash, on: day) }
            return created
        } catch {
            // A refund that may be made counts.
            let mayBeMade = error.errorCode == .outcomeUnknown
            if isCounted, !mayBeMade { release(wish, of: hash, on: day) }
            throw error
        }
    }

    private func release(_ wish: String, of hash: String, on day: String) {
        // If the removal cannot be stored, the till may refund less today, but never more.
        try? state.withLock { state throws(Problem) in
            try change(hash, in: &state) { $0.release(wish, on: day) }
        }
    }

    private static func limit(of till: Till, on day: String) -> Problem {
        guard let limit = till.refundsPerDayCents else {
            return Problem(
                .notPermitted,
                detail: "This till may not refund.",
                fix: "Ask somebody who may."
            )
        }
        let left = Money(minorUnits: limit - till.refunded(on: day))
        return Problem(
            .refundTooLarge,
            detail:
                "This till may refund \(Money(minorUnits: limit)) a day; \(left) is left today.",
            fix: "Ask somebody who may refund more."
        )
    }

    private func change<Result>(
        _ hash: String,
        in state: inout State,
        _ change: (inout Till) throws(Problem) -> Result
    ) throws(Problem) -> Result {
        guard let index = state.tills.firstIndex(where: { $0.hash == hash }) else {
            throw Problem(.unauthorized, detail: "This till is not paired any more.")
        }
        var tills = state.tills
        let result = try change(&tills[index])
        try write(tills, to: &state)
        return result
    }

    /// Stores the tills. They apply once they are on disk.
    private func write(_ tills: [Till], to state: inout State) throws(Problem) {
        do throws(DurableFile.Failure) {
            try DurableFile.replace(path, with: JSONEncoder.pretty(Contents(tills: tills)))
        } catch {
            throw Problem(
                .journalUnwritable,
                detail: "The list of tills cannot be written: \(error.reason).",
                fix: "gotchu-ctl doctor"
            )
        }
        state.tills = tills
    }

    /// Returns 256 random bits as 43 characters of the URL-safe Base64 alphabet.
    private static func secret() -> String {
        Data(SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) }).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    private static func hash(_ token: String) -> String {
        SHA256.hash(data: Array(token.utf8)).hex
    }

    /// Today's date in this machine's time zone, such as `2026-11-21`.
    private static var today: String { LocalTimeZone.current.rules.day(at: .now).description }
}
