import AsyncHTTPClient
import FoundationEssentials
import GotchuAPI
import GotchuCore
import NIOCore
import NIOHTTP1
import PaymentClient
import Synchronization

@testable import GotchuDaemon

/// A payment server in memory with one session. It first gives the scripted replies, and then works
/// like a real server. It stores its decisions by key.
final class ScriptedServer: HTTPTransport {
    enum Route: Hashable, Sendable {
        case resolve, lock, unlock, send, lookUp, refund, session, refresh, login, wallet,
            devLogin, withdraw, join
    }

    /// A received call.
    struct Call: Equatable, Sendable {
        let route: Route
        /// The bearer token.
        let token: String?
        let key: String?
        let body: String
        /// The journal's newest record when the call arrived.
        let journalled: JournalRecord?
    }

    enum Reply: Sendable {
        /// Carries out the call, and answers it.
        case done
        /// Carries out the call, but loses the answer.
        case doneUnheard
        /// Loses the call: it is neither carried out nor answered.
        case lost
        /// Refuses the call, and stores no decision for the key.
        case refused(Int, String)
        /// Refuses the call, and stores the refusal as the decision for the key.
        case declined(Int, String)
        /// Stores a refusal as the decision for the key, but loses the answer.
        case declinedUnheard(Int, String)
        /// Answers with an HTML page, as a proxy does.
        case page(Int)
    }

    struct Broken: Error {}

    private struct State {
        var journal: MemoryJournal?
        var script: [Route: [Reply]] = [:]
        var calls: [Call] = []
        var gates: [Route: Gate] = [:]
        /// The answers to sends, refunds, withdrawals and contest entries, by key.
        var decided: [String: (status: Int, body: String)] = [:]
        var sessionStatus = "advertising"
        var sessionMembers = ""
        var refreshes = 0
        var lookUps: [String] = []
    }

    static let eid = "a1b2c3d4e5"
    static let sid = "s-1"

    private let state = Mutex(State())

    /// Sets the journal. Each later call has the journal's newest record in `journalled`.
    func watch(_ journal: MemoryJournal) { state.withLock { $0.journal = journal } }

    /// Adds the replies to the next calls of a route.
    func script(_ route: Route, _ replies: Reply...) {
        state.withLock { $0.script[route, default: []] += replies }
    }

    /// Stops the next call of a route until the test opens the gate.
    func stop(at route: Route) -> Gate {
        let gate = Gate()
        state.withLock { $0.gates[route] = gate }
        return gate
    }

    var calls: [Call] { state.withLock(\.calls) }
    var routes: [Route] { calls.map(\.route) }
    func calls(_ route: Route) -> [Call] { calls.filter { $0.route == route } }

    /// The number of times that money moved.
    var movements: Int { state.withLock { $0.decided.values.count { $0.status == 200 } } }

    var sessionStatus: String {
        get { state.withLock(\.sessionStatus) }
        set { state.withLock { $0.sessionStatus = newValue } }
    }

    /// Further members of the session, in JSON, each with a comma after it.
    var sessionMembers: String {
        get { state.withLock(\.sessionMembers) }
        set { state.withLock { $0.sessionMembers = newValue } }
    }

    /// The replies to the next look-ups, in place of the decisions.
    var lookUps: [String] {
        get { state.withLock(\.lookUps) }
        set { state.withLock { $0.lookUps = newValue } }
    }

    func execute(
        _ request: HTTPClientRequest,
        timeout: TimeAmount
    ) async throws -> HTTPClientResponse {
        var body = ByteBuffer()
        if let parts = request.body {
            for try await part in parts { body.writeImmutableBuffer(part) }
        }
        let call = Call(
            route: Self.route(request),
            token: request.headers.first(name: "Authorization").map {
                String($0.dropFirst("Bearer ".count))
            },
            key: request.headers.first(name: "Idempotency-Key")
                ?? request.url.firstRange(of: "/wallet/sends/").map {
                    String(request.url[$0.upperBound...])
                },
            body: String(buffer: body),
            journalled: state.withLock(\.journal)?.records.last
        )
        let gate = state.withLock { state in
            state.calls.append(call)
            return state.gates.removeValue(forKey: call.route)
        }
        await gate?.pass()
        let reply = state.withLock { state in
            state.script[call.route]?.isEmpty == false
                ? state.script[call.route]?.removeFirst() ?? .done : .done
        }
        return try answer(call, reply)
    }

    private func answer(_ call: Call, _ reply: Reply) throws -> HTTPClientResponse {
        switch reply {
        case .done:
            let (status, body, isReplay) = state.withLock { Self.carryOut(call, &$0) }
            return response(status, body, isReplay: isReplay)
        case .doneUnheard:
            _ = state.withLock { Self.carryOut(call, &$0) }
            throw Broken()
        case .lost: throw Broken()
        case .refused(let status, let code): return response(status, Self.problem(code))
        case .declined(let status, let code), .declinedUnheard(let status, let code):
            let known = state.withLock { state in
                let known = state.decided[call.key ?? ""]
                if known == nil { state.decided[call.key ?? ""] = (status, Self.problem(code)) }
                return known
            }
            if case .declinedUnheard = reply { throw Broken() }
            return response(
                known?.status ?? status,
                known?.body ?? Self.problem(code),
                isReplay: known != nil
            )
        case .page(let status): return response(status, "<html>")
        }
    }

    private static func carryOut(
        _ call: Call,
        _ state: inout State
    ) -> (status: Int, body: String, isReplay: Bool) {
        let key = call.key ?? ""
        switch call.route {
        case .send, .refund:
            let isReplay = state.decided[key] != nil
            let paid =
                #"{"ok":true,"new_balance_cents":5000,"transfer_id":"t-1","#
                + #""amount_cents":500,"refunded_cents":500}"#
            let known = state.decided[key] ?? (200, paid)
            state.decided[key] = known
            return (known.status, known.body, isReplay)
        case .withdraw:
            let isReplay = state.decided[key] != nil
            let made =
                #"{"withdrawal_id":"w-1","amount_cents":500,"currency":"usd","#
                + #""status":"pending","created_at":"2030-01-01T00:00:00.000Z"}"#
            let known = state.decided[key] ?? (200, made)
            state.decided[key] = known
            return (known.status, known.body, isReplay)
        case .join:
            let isReplay = state.decided[key] != nil
            let known = state.decided[key] ?? (200, ContestSample.detail)
            state.decided[key] = known
            return (known.status, known.body, isReplay)
        case .lookUp:
            if !state.lookUps.isEmpty { return (200, state.lookUps.removeFirst(), false) }
            guard let known = state.decided[key] else { return (404, problem("NOT_FOUND"), false) }
            let outcome = known.status == 200 ? "paid" : "declined"
            let code = known.status == 200 ? "" : #","code":"INSUFFICIENT_WALLET_BALANCE""#
            let sid = Self.sid
            return (
                200,
                #"{"outcome":"\#(outcome)","status":\#(known.status),"sid":"\#(sid)"\#(code)}"#,
                false
            )
        case .refresh:
            state.refreshes += 1
            let number = state.refreshes
            return (
                200,
                #"{"access_token":"short-\#(number)","token_type":"Bearer","expires_in":100,"#
                    + #""refresh_token":"gotchu-device.d1.f1.secret\#(number)","#
                    + #""user_id":"u-1","scope":""}"#,
                false
            )
        case .resolve, .lock, .unlock, .session, .login, .wallet, .devLogin:
            return (200, body(of: call.route, state), false)
        }
    }

    private static func body(of route: Route, _ state: State) -> String {
        switch route {
        case .resolve:
            #"{"sid":"\#(sid)","amount_cents":500,"currency":"usd","payee_id":"p-1","#
                + #""payee_display":{"name":"Corner Cafe"},"allows_tip":true}"#
        case .lock: #"{"ok":true}"#
        case .unlock, .session:
            #"{"sid":"\#(sid)","status":"\#(state.sessionStatus.uppercased())","ok":true,"#
                + [#""amount_cents":500,"#, #""currency":"usd","#].filter { member in
                    // A scripted member replaces the usual one.
                    !state.sessionMembers.contains(member.prefix { $0 != ":" })
                }.joined() + #""exp_at":"2030-01-01T00:00:00Z","#
                + #"\#(state.sessionMembers)"version":1}"#
        case .wallet: #"{"wallet_id":"w-1","available_cents":5000,"recent":[]}"#
        case .devLogin: #"{"token":"\#(Bench.token(of: "dev"))","user_id":"u-1"}"#
        case .login: #"{"user_id":"u-1"}"#
        case .send, .lookUp, .refund, .refresh, .withdraw, .join: "{}"
        }
    }

    private static func problem(_ code: String) -> String {
        let figures =
            code == "INSUFFICIENT_WALLET_BALANCE"
            ? #","required_cents":500,"available_cents":200"# : ""
        return #"{"code":"\#(code)","detail":"The server says \#(code)."\#(figures)}"#
    }

    private func response(
        _ status: Int,
        _ body: String,
        isReplay: Bool = false
    ) -> HTTPClientResponse {
        HTTPClientResponse(
            status: HTTPResponseStatus(statusCode: status),
            headers: isReplay ? ["Idempotent-Replayed": "true"] : [:],
            body: .bytes(ByteBuffer(string: body))
        )
    }

    private static func route(_ request: HTTPClientRequest) -> Route {
        let path = request.url.dropFirst(Bench.server.count)
        return switch path {
        case "/sessions/resolve": .resolve
        case "/sessions/lock": .lock
        case "/wallet/send": .send
        case "/auth/token": .refresh
        case "/auth/login": .login
        case "/auth/dev-login": .devLogin
        case "/wallet/me": .wallet
        case "/api/wallet/withdrawals": .withdraw
        case _ where path.hasPrefix("/wallet/sends/"): .lookUp
        case _ where path.hasSuffix("/unlock"): .unlock
        case _ where path.hasSuffix("/refund"): .refund
        case _ where path.hasSuffix("/join"): .join
        default: .session
        }
    }
}

/// A gate at which a task waits until the test opens the gate.
final class Gate: Sendable {
    private let (arrivals, arrival) = AsyncStream.makeStream(of: Void.self)
    private let (openings, opening) = AsyncStream.makeStream(of: Void.self)

    /// Waits until the gate is open. The code that a test stops calls this.
    func pass() async {
        arrival.finish()
        for await _ in openings {}
    }

    /// Ends the wait of `reached()` without a task at the gate.
    func leave() { arrival.finish() }

    /// Waits until a task has arrived at the gate.
    func reached() async { for await _ in arrivals {} }

    func open() { opening.finish() }
}
