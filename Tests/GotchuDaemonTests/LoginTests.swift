import FoundationEssentials
import GotchuAPI
import GotchuCore
import PaymentClient
import Synchronization
import TestSupport
import Testing

@testable import GotchuDaemon

@Suite("Logging in and out")
struct LoginTests {
    private func logins(_ bench: Bench) -> LoginService {
        LoginService(
            core: bench.core,
            payments: bench.payments,
            withdrawals: WithdrawalService(bench.core),
            entries: ContestEntryService(bench.core),
            requests: bench.requests
        )
    }

    private func login(as user: String) -> LocalLogin { LocalLogin(token: Bench.token(of: user)) }

    private func code(
        _ call: () async throws(Problem) -> Void
    ) async -> ErrorCode? {
        do throws(Problem) {
            try await call()
            return nil
        } catch {
            return error.errorCode
        }
    }

    @Test("A token is stored unless the server refuses it, even if the server's answer is lost")
    func tokens() async throws {
        let bench = try Bench(user: nil)
        let logins = logins(bench)
        bench.server.script(.wallet, .refused(401, "UNAUTHORIZED"), .lost)
        #expect(
            await code { () async throws(Problem) in try await logins.logIn(login(as: "ann")) }
                == .notLoggedIn
        )
        #expect(bench.core.tokens.token == nil)
        try await logins.logIn(login(as: "ann"))
        #expect(bench.core.tokens.identity == "ann")
        try await logins.logIn(LocalLogin(devEmail: "dev@example"))
        #expect(bench.core.tokens.identity == "dev")
        for odd in [LocalLogin(), LocalLogin(token: "a b"), LocalLogin(token: "a", devEmail: "b")] {
            #expect(
                await code { () async throws(Problem) in try await logins.logIn(odd) }
                    == .validationError
            )
        }
        try await logins.logOut()
        #expect(bench.core.tokens.token == nil)
    }

    @Test("During an open payment, only the payment's user can log in, and a logout is refused")
    func openPayment() async throws {
        let bench = try Bench()
        let logins = logins(bench)
        _ = try await bench.agree()
        #expect(
            await code { () async throws(Problem) in try await logins.logIn(login(as: "bob")) }
                == .paymentInProgress
        )
        #expect(
            await code { () async throws(Problem) in try await logins.logOut() }
                == .paymentInProgress
        )
        try await logins.logIn(login(as: "ann"))
        await bench.drive()
        try await logins.logIn(login(as: "bob"))
        try await logins.logOut()
    }

    @Test("Another user can log in if the server refuses the login of the open payment's user")
    func refusedLogin() async throws {
        let bench = try Bench()
        bench.server.script(.send, .lost, .refused(401, "UNAUTHORIZED"))
        let id = try await bench.agree()
        await bench.driveToWait(id)
        await bench.driveToWait(id, isResumed: true)
        #expect(try await bench.payments.view(of: id).detail.contains("accept the login"))
        #expect(bench.core.tokens.isRefused)
        #expect(!bench.core.status.reply.server.isLoggedIn)
        try await logins(bench).logIn(login(as: "bob"))
        #expect(bench.core.tokens.identity == "bob")
        #expect(try await !bench.payments.view(of: id).state.isFinal)
    }

    @Test("A login from an operator's token file can be neither replaced nor removed")
    func fixed() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(Bench.token(of: "ann"), to: "operator")
        let bench = try Bench(tokenFile: file)
        let logins = logins(bench)
        #expect(await code { () async throws(Problem) in try await logins.logOut() } == .forbidden)
        #expect(
            await code { () async throws(Problem) in try await logins.logIn(login(as: "ann")) }
                == .forbidden
        )
        let code = LocalLogin(token: "gotchu-device.d1.f1.first")
        #expect(
            await self.code { () async throws(Problem) in try await logins.logIn(code) }
                == .forbidden
        )
        #expect(bench.server.calls(.refresh).isEmpty)
        #expect(bench.core.tokens.identity == "ann")
    }

    @Test("A device's credential is exchanged at login, and its successor is stored")
    func enrol() async throws {
        let bench = try Bench(user: nil)
        try await logins(bench).logIn(LocalLogin(token: "gotchu-device.d1.f1.first"))
        #expect(bench.core.tokens.identity == "device-d1")
        #expect(bench.core.tokens.token?.hasPrefix("gotchu-device.d1.f1.secret1~") == true)
        #expect(bench.server.calls(.refresh).count == 1)
        #expect(bench.server.calls(.refresh)[0].body.contains("gotchu-device.d1.f1.first~"))
        guard case .success = await bench.core.client.wallet() else {
            Issue.record("The server refuses the token of the exchange")
            return
        }
        #expect(bench.server.calls(.wallet).map(\.token) == ["short-1"])
        // A refused credential does not replace the stored one.
        bench.server.script(.refresh, .refused(401, "UNAUTHORIZED"))
        let other = LocalLogin(token: "gotchu-device.d1.f2.second")
        await #expect {
            try await logins(bench).logIn(other)
        } throws: {
            let problem = $0 as? Problem
            return problem?.errorCode == .notLoggedIn
                && problem?.detail.contains("this device code") == true
                && problem?.detail.contains("login is as before") == true
                && problem?.fix?.contains("gotchu-server devices renew ID") == true
        }
        #expect(bench.core.tokens.token?.hasPrefix("gotchu-device.d1.f1.secret1~") == true)
    }

    @Test("After a lost reply, the same machine repeats the same exchange of its code")
    func lostReply() async throws {
        let bench = try Bench(user: nil)
        let logins = logins(bench)
        let code = LocalLogin(token: "gotchu-device.d1.f1.first")
        bench.server.script(.refresh, .doneUnheard, .lost)
        for _ in 0..<2 {
            #expect(
                await self.code { () async throws(Problem) in try await logins.logIn(code) }
                    == .serverUnreachable
            )
        }
        // A mistyped code does not end the exchange of the right one. It has another nonce.
        let mistyped = LocalLogin(token: "gotchu-device.d1.f2.first")
        bench.server.script(.refresh, .refused(401, "UNAUTHORIZED"))
        #expect(
            await self.code { () async throws(Problem) in try await logins.logIn(mistyped) }
                == .notLoggedIn
        )
        // The secret was written down before its first use, so a restart repeats the exchange too.
        let folder = bench.folder.path
        let restarted = TokenStore(configured: nil, credentials: nil, stateDirectory: folder)
        let again = try restarted.enrolment(of: "gotchu-device.d1.f1.first")
        try await logins.logIn(code)
        let bodies = bench.server.calls(.refresh).map(\.body)
        let repeated = #"{"refresh_token":"\#(again)"}"#
        #expect(bodies.count == 4)
        #expect([bodies[0], bodies[1], bodies[3]] == [repeated, repeated, repeated])
        let nonce = try #require(again.split(separator: "~").last)
        #expect(!bodies[2].contains(nonce))
    }

    @Test("The same code entered again on the same machine does not use the code again")
    func enteredAgain() async throws {
        let bench = try Bench(user: nil)
        let logins = logins(bench)
        let code = LocalLogin(token: "gotchu-device.d1.f1.first")
        for _ in 0..<2 { try await logins.logIn(code) }
        #expect(bench.server.calls(.refresh).count == 1)
        try await logins.logOut()
        bench.server.script(.refresh, .refused(401, "DEVICE_CODE_USED"))
        await #expect {
            try await logins.logIn(code)
        } throws: {
            let problem = $0 as? Problem
            return problem?.errorCode == .deviceCodeUsed
                && problem?.fix?.contains("gotchu-server devices renew d1") == true
        }
    }

    @Test("A code is not sent if its exchange cannot be written down")
    func unwritableEnrolment() async throws {
        let bench = try Bench(user: nil)
        try FileManager.default.createDirectory(
            atPath: bench.folder.path + "/enrolment.new/x",
            withIntermediateDirectories: true
        )
        let code = LocalLogin(token: "gotchu-device.d1.f1.first")
        #expect(
            await self.code { () async throws(Problem) in try await logins(bench).logIn(code) }
                == .journalUnwritable
        )
        #expect(bench.server.calls(.refresh).isEmpty)
    }
}

@Suite("The access tokens of a device")
struct AccessTokenTests {
    /// A clock that moves only when a test advances it.
    private final class Time: Sendable {
        private let time = Mutex(MonotonicTime(sinceStart: .zero))
        var now: MonotonicTime { time.withLock(\.self) }
        func advance(_ duration: Duration) { time.withLock { $0 = $0 + duration } }
    }

    private let bench: Bench
    private let time = Time()
    private let access: AccessTokens

    init() throws {
        bench = try Bench(user: "gotchu-device.d1.f1.first")
        access = AccessTokens(
            tokens: bench.core.tokens,
            client: PaymentClient(
                server: try #require(ServerURL(Bench.server)),
                http: bench.server
            ),
            status: bench.core.status,
            now: { [time] in time.now },
            logger: bench.log.logger
        )
    }

    private var refreshes: Int { bench.server.calls(.refresh).count }

    @Test("Simultaneous callers share one fetched token, and it is renewed before it expires")
    func renewal() async {
        let refresh = bench.server.stop(at: .refresh)
        async let first = access.access()
        await refresh.reached()
        async let second = access.access()
        refresh.open()
        #expect(await [first, second] == [.bearer("short-1"), .bearer("short-1")])
        time.advance(.seconds(74))
        #expect(await access.access() == .bearer("short-1"))
        time.advance(.seconds(2))
        #expect(await access.access() == .bearer("short-2"))
        #expect(refreshes == 2)
        // The second refresh sent the successor that the first refresh had returned.
        #expect(bench.server.calls(.refresh)[1].body.contains("f1.secret1~"))
    }

    @Test("If the server does not answer a refresh, the old token is used until it expires")
    func away() async {
        #expect(await access.access() == .bearer("short-1"))
        bench.server.script(.refresh, .lost, .lost)
        time.advance(.seconds(80))
        #expect(await access.access() == .bearer("short-1"))
        time.advance(.seconds(21))
        guard case .outage = await access.access() else {
            Issue.record("An expired token is used")
            return
        }
        #expect(await access.access() == .bearer("short-2"))
    }

    @Test("A refused token is replaced once for all callers, but not right after it was fetched")
    func refused() async {
        #expect(await access.access() == .bearer("short-1"))
        #expect(await access.access(replacing: "short-1") == .none)
        time.advance(.seconds(2))
        #expect(await access.access(replacing: "short-1") == .bearer("short-2"))
        // A second call with the refused token gets the new token without a refresh.
        #expect(await access.access(replacing: "short-1") == .bearer("short-2"))
        #expect(refreshes == 2)
    }

    @Test("A refused credential is reported as refused until the server accepts it again")
    func credential() async {
        let refusal = ScriptedServer.Reply.refused(401, "UNAUTHORIZED")
        bench.server.script(.refresh, refusal, refusal)
        for _ in 0..<2 {
            #expect(await access.access() == .none)
            #expect(bench.core.tokens.isRefused)
        }
        #expect(await access.access() == .bearer("short-1"))
        #expect(!bench.core.tokens.isRefused)
        // The change is an error, and its repetition is not.
        let refusals = bench.log.lines.filter { $0.contains("does not accept this device's") }
        #expect(refusals.count { $0.contains("error") } == 1, "\(refusals)")
        #expect(bench.log.lines.count { $0.contains("accepts this device's") } == 1)
    }

    @Test("The status says that a device was revoked or has expired, and what to do about it")
    func checkedLogin() async {
        func item() -> (text: String, fix: String)? {
            let item = bench.core.status.reply.health.first { $0.code == "login-refused" }
            return item.map { ($0.text, $0.fix) }
        }
        // The first check exchanges the code, the next ones exchange nothing.
        await access.checkLogin()
        #expect(refreshes == 1 && bench.server.calls(.login).isEmpty)
        await access.checkLogin()
        #expect(refreshes == 1 && item() == nil)
        let shown = bench.server.calls(.login).map(\.token)
        #expect(shown == [bench.core.tokens.token])
        for (code, word) in [("DEVICE_REVOKED", "was revoked"), ("UNAUTHORIZED", "has expired")] {
            bench.server.script(.login, .refused(401, code))
            await access.checkLogin()
            #expect(item()?.text.contains(word) == true, "\(code)")
            #expect(item()?.fix.contains("gotchu-server devices renew d1. Then: ") == true)
            #expect(!bench.core.status.reply.server.isLoggedIn)
        }
        // A server that does not answer, or has no such address, says nothing about the login.
        bench.server.script(.login, .lost, .refused(404, "NOT_FOUND"), .page(401))
        for _ in 0..<3 {
            await access.checkLogin()
            #expect(item()?.text.contains("has expired") == true)
        }
        await access.checkLogin()
        #expect(item() == nil && bench.core.status.reply.server.isLoggedIn)
    }

    @Test("A successor that cannot be stored leaves the old credential in use")
    func unwritable() async throws {
        // A folder at the path of the temporary file prevents the write.
        try FileManager.default.createDirectory(
            atPath: bench.folder.path + "/token.new/x",
            withIntermediateDirectories: true
        )
        #expect(await access.access() == .bearer("short-1"))
        #expect(bench.core.tokens.token == "gotchu-device.d1.f1.first")
        #expect(bench.log.lines.contains { $0.contains("cannot be written") })
        time.advance(.seconds(100))
        _ = await access.access()
        #expect(bench.server.calls(.refresh)[1].body.contains("f1.first"))
    }

    @Test("A call restricted to one user gets no token while another user or nobody is logged in")
    func oneUser() async throws {
        let own = access.restricted(to: "device-d1")
        #expect(await own.access() == .bearer("short-1"))
        guard case .outage(let outage) = await access.restricted(to: "ann").access() else {
            Issue.record("A call of ann gets the device's token")
            return
        }
        #expect(outage.code == .otherUser)
        try bench.core.tokens.store(nil)
        guard case .outage = await own.access() else {
            Issue.record("A call gets a token although nobody is logged in")
            return
        }
    }
}
