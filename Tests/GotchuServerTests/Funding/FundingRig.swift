import Foundation
import Ledger
import LedgerStore
import StripeTestSupport
import TestSupport
import Testing

@testable import GotchuServer

/// One or more real servers on one database, and a stand-in for Stripe.
actor FundingRig {
    let standIn: StripeStandIn
    let database: CheckedDatabase
    private let folder: TemporaryFolder
    private let environment: [String: String]
    /// Additional environment variables of the servers, by full name.
    private let variables: [String: String]
    /// The number of servers that have exited and were restarted.
    private(set) var restarts = 0
    private var servers: [ServerProcess] = []
    /// The logs of the exited servers and the output of the commands.
    private var logs = ""

    static let key = "sk_test_" + "standin"
    static let secret = "whsec" + "_one"

    /// Runs a test with one or more servers, then audits the database and searches the logs for
    /// secrets.
    static func with(
        _ kind: DatabaseKind = .sqlite,
        servers count: Int = 1,
        more: [String: String] = [:],
        variables: (TemporaryFolder) async throws -> [String: String] = { _ in [:] },
        _ story: (FundingRig) async throws -> Void
    ) async throws {
        try await StripeStandIn.with { standIn in
            let folder = try TemporaryFolder()
            let variables = try await variables(folder)
            let rig = try FundingRig(standIn, kind, more, folder, variables)
            for _ in 0..<count { try await rig.start() }
            try await story(rig)
            try await rig.end()
        }
    }

    private init(
        _ standIn: StripeStandIn,
        _ kind: DatabaseKind,
        _ more: [String: String],
        _ folder: TemporaryFolder,
        _ variables: [String: String]
    ) throws {
        self.standIn = standIn
        self.folder = folder
        self.variables = variables
        database = try kind.makeDatabase(in: folder)
        let secrets = "whsec" + "_rolled\n\(Self.secret)\n"
        environment = try [
            "STRIPE_KEY_FILE": Self.file(Self.key + "\n", "key", in: folder),
            "STRIPE_WEBHOOK_SECRETS_FILE": Self.file(secrets, "secrets", in: folder),
            "STRIPE_API": standIn.address, "PUBLIC_URL": "http://127.0.0.1:1",
            "PAYOUT_HOLD_HOURS": "0", "PAYOUT_FIRST_SALES": "0", "LOG_LEVEL": "debug",
        ].merging(more) { $1 }
    }

    /// Writes a file that only its owner can read; returns its path.
    private static func file(
        _ text: String,
        _ name: String,
        in folder: TemporaryFolder
    ) throws -> String {
        let path = try folder.write(text, to: name)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        return path
    }

    /// Starts a server, and makes the stand-in send webhooks to all running servers.
    func start() async throws {
        let server = try await ServerProcess(
            folder: folder,
            database: database.address,
            more: [],
            environment: Dictionary(
                uniqueKeysWithValues: environment.map { ("GOTCHU_SERVER_\($0)", $1) }
            ).merging(variables) { $1 }
        )
        servers.append(server)
        try await tellEndpoints()
    }

    private func tellEndpoints() async throws {
        let endpoints = servers.flatMap { server in
            [false, true].map { isConnect in
                ControlValue.object([
                    "url": .text(server.wire.base + "/api/webhooks/stripe"),
                    "secrets": .list([.text(Self.secret)]), "connect": .boolean(isConnect),
                ])
            }
        }
        try await standIn.order("endpoints", ["endpoints": .list(endpoints)])
    }

    func wire(_ number: Int = 0) -> Wire { servers[number % servers.count].wire }

    var processID: Int32 { servers[0].program.processID }

    /// The program of the first server, for tests that expect it to exit.
    var program: Program { servers[0].program }

    /// Waits until the first server has exited, and restarts it on the same database.
    ///
    /// - Parameter change: A change to the database before the restart.
    func restart(after change: @Sendable () async throws -> Void = {}) async throws {
        restarts += 1
        let server = servers.removeFirst()
        _ = try await server.program.exitCode()
        logs += server.program.text
        try await change()
        try await start()
    }

    /// Kills the first server and restarts it.
    func kill(andThen change: @Sendable () async throws -> Void = {}) async throws {
        servers[0].program.signal(SIGKILL)
        try await restart(after: change)
    }

    private func end() async throws {
        for server in servers {
            #expect(try await server.stop() == 0)
            logs += server.program.text
        }
        let audit = try database.audit()
        #expect(audit.isClean, "\(audit.findings.filter { $0.violation != nil })")
        let state = try await standIn.state()
        let intents = state["intents"]?.list ?? []
        let secrets = intents.compactMap { $0["client_secret"]?.text }
        let pages = (state["sessions"]?.list ?? []).compactMap {
            $0["id"]?.text.map { "/c/pay/\($0)" }
        }
        for secret in [Self.key, Self.secret, "/setup/e/", "ticket="] + secrets + pages {
            #expect(!logs.contains(secret), "the log holds \(secret)")
        }
    }

    // MARK: Commands

    /// Runs an operator's command on this database.
    func run(_ command: String...) async throws -> (code: Int32, text: String) {
        let ended = try await run(command)
        logs += ended.text
        return ended
    }

    /// Runs a command that prints a secret; its output is not searched for secrets.
    func runSecretly(_ command: [String]) async throws -> (code: Int32, text: String) {
        try await run(command)
    }

    /// Runs the command that compares this database with the stand-in.
    func reconcile(_ more: String...) async throws -> (code: Int32, text: String) {
        let ended = try await run(["reconcile"] + more)
        logs += ended.text
        return ended
    }

    private func run(_ command: [String]) async throws -> (code: Int32, text: String) {
        let program = try Program(
            "gotchu-server",
            command + ["--database", database.address],
            environment: Dictionary(
                // An operator's shell does not have the server's PAYOUT_ variables.
                uniqueKeysWithValues: environment.filter { !$0.key.hasPrefix("PAYOUT_") }
                    .map { ("GOTCHU_SERVER_\($0)", $1) }
            )
        )
        return (try await program.exitCode(), program.text)
    }

    // MARK: Steps

    /// Makes an idempotency key of sufficient length from a short name.
    static func idempotencyKey(_ key: String) -> String { "key-of-a-story-\(key)" }

    /// Requests a deposit, and repeats the request until there is an answer, as a payer's program
    /// does. Restarts the server if it has exited.
    func deposit(
        _ token: String,
        cents: Int,
        key: String,
        hosted: Bool = true
    ) async throws -> WireReply {
        let presentation = hosted ? "hosted" : "client_secret"
        let body = #"{"amount_cents":\#(cents),"presentation":"\#(presentation)"}"#
        return try await eventually("the deposit is open") {
            let reply = try? await wire().post(
                "/api/payments/intents",
                body,
                token: token,
                key: Self.idempotencyKey(key)
            )
            if reply == nil, !servers[0].program.isRunning { try await restart() }
            guard let reply, reply.status != 503 else { return nil }
            return reply
        }
    }

    /// Returns the stand-in's id of a deposit's checkout session or payment intent.
    func stripeID(of reply: WireReply) throws -> String {
        let page = reply.string("checkout_url").split(separator: "/").last.map(String.init)
        let intent = reply.string("client_secret").split(separator: "_").prefix(2)
        return try #require(page ?? (intent.count == 2 ? intent.joined(separator: "_") : nil))
    }

    /// Waits until a member of a resource has this text; restarts the server if it has exited.
    @discardableResult
    func wait(
        _ token: String,
        for path: String,
        _ member: String,
        toBe value: String
    ) async throws -> WireReply {
        try await eventually("\(member) of \(path) is \(value)") {
            let reply = try? await wire().get(path, token: token)
            if reply == nil, !servers[0].program.isRunning { try await restart() }
            return reply?.string(member) == value ? reply : nil
        }
    }

    func waitForBalance(_ token: String, _ cents: Int64) async throws {
        try await eventually("the balance is \(cents)") {
            let balance = try? await wire().balance(token)
            return balance == cents ? true : nil
        }
    }

    /// Makes a payee ready for payouts; returns the id of the payee's account at the stand-in.
    func onboard(_ token: String) async throws -> String {
        let path = "/api/connect/links"
        try await eventually("there is an onboarding link") {
            let reply = try? await wire().post(path, token: token)
            if reply == nil, !servers[0].program.isRunning { try await restart() }
            return reply?.status == 200 ? true : nil
        }
        let accounts = try await standIn.state()["accounts"]?.list ?? []
        let account = try #require(accounts.last?["id"]?.text)
        try await standIn.order("onboard", ["name": .text(account)])
        try await wait(token, for: "/api/connect/status", "status", toBe: "ACTIVE")
        return account
    }

    /// Requests a withdrawal, and repeats the request until there is an answer; returns its path.
    func withdraw(_ token: String, cents: Int, key: String) async throws -> String {
        let path = "/api/wallet/withdrawals"
        let made = try await eventually("the withdrawal is ordered") {
            let reply = try? await wire().post(
                path,
                #"{"amount_cents":\#(cents)}"#,
                token: token,
                key: Self.idempotencyKey(key)
            )
            if reply == nil, !servers[0].program.isRunning { try await restart() }
            return reply
        }
        #expect(made.status == 202, "\(made.text)")
        return "\(path)/\(made.string("withdrawal_id"))"
    }

    /// Sets the status of the newest payout at the stand-in.
    func movePayout(to status: String) async throws {
        let values: [String: ControlValue] = [
            "name": .text(try await last("payouts")), "status": .text(status),
        ]
        try await standIn.order("move_payout", values)
    }

    /// Waits until the stand-in has this number of payouts.
    func waitForPayouts(_ count: Int) async throws {
        do {
            try await eventually("there are \(count) payouts") {
                if !servers[0].program.isRunning { try await restart() }
                return try await self.count("payouts") == count ? true : nil
            }
        } catch {
            Issue.record("\(error); the server's log: \(servers[0].program.text.suffix(2_000))")
            throw error
        }
    }

    /// Returns the number of the stand-in's objects of a kind.
    func count(_ kind: String) async throws -> Int {
        try await standIn.state()[kind]?.list?.count ?? 0
    }

    /// Returns the number of requests for one call, such as `GET /v1/payouts/{payout}`.
    func calls(_ call: String) async throws -> Int {
        let requests = try await standIn.state()["requests"]?.list ?? []
        return requests.count { $0["call"]?.text == call }
    }

    /// Returns the id of the stand-in's newest object of a kind.
    func last(_ kind: String) async throws -> String {
        try #require(try await standIn.state()[kind]?.list?.last?["id"]?.text)
    }
}
