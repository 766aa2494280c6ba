import GotchuAPI
import GotchuCore
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import ServiceLifecycle

/// All routes of the daemon's socket, each with its required level.
struct LocalRoutes {
    private let calls: LocalCalls
    private var backend: any LocalBackend { calls.backend }

    init(backend: any LocalBackend, hub: EventHub) {
        calls = LocalCalls(backend: backend, hub: hub)
    }

    func add(to table: LevelledRouter) {
        table.add(.observer, .get, "/v1/status") { _, _ in .json(await backend.status()) }
        table.add(.observer, .get, "/v1/sessions") { _, _ in
            .json(await backend.presences(afterListening: true))
        }
        table.addStream(.observer, .get, "/v1/events") { request, context in
            try await events(request, context)
        }
        table.add(.observer, .get, "/metrics") { _, _ in .metrics(await backend.metrics()) }
        addCalibration(to: table)
        addRequests(to: table)
        addPairings(to: table)
        addPayments(to: table)
        addContests(to: table)
        table.add(.owner, .get, "/v1/bugreport") { _, _ in .json(await backend.bugReport()) }
        table.addStream(.owner, .get, "/v1/recording") { request, _ in
            try await recording(request)
        }
        table.add(.owner, .post, "/v1/reload") { _, _ in .json(try await backend.reload()) }
    }

    private func addCalibration(to table: LevelledRouter) {
        table.add(.observer, .get, "/v1/calibration") { _, _ in
            .json(await backend.calibrations())
        }
        table.add(.owner, .put, "/v1/calibration") { request, _ in
            let new = try NewCalibration(try await fields(request))
            return .json(try await backend.calibrate(new))
        }
        table.add(.owner, .delete, "/v1/calibration") { _, _ in
            .json(try await backend.resetCalibration())
        }
    }

    private func addRequests(to table: LevelledRouter) {
        table.add(.cashier, .post, "/v1/requests") { request, _ in
            try await calls.createRequest(request)
        }
        table.add(.cashier, .get, "/v1/requests") { _, _ in await calls.requests() }
        table.add(.cashier, .get, "/v1/requests/{id}") { _, context in
            try await calls.request(context)
        }
        table.add(.cashier, .post, "/v1/requests/{id}/refresh") { _, context in
            try await calls.refreshRequest(context)
        }
        table.add(.cashier, .delete, "/v1/requests/{id}") { _, context in
            try await calls.cancelRequest(context)
        }
    }

    private func addPairings(to table: LevelledRouter) {
        table.add(.cashier, .get, "/v1/report") { request, _ in
            .json(try await calls.report(request))
        }
        table.add(.cashier, .post, "/v1/pairings/{id}") { request, context in
            let new = try NewPairing(try await fields(request))
            // A cashier may not grant a right that only a spender has.
            guard new.refundsPerDayCents == nil || context.levels.contains(.spender) else {
                throw context.refusal(of: .spender)
            }
            let code = try context.parameters.require("id")
            return .json(try backend.pairings.approve(code, as: new, by: try context.userID))
        }
        table.add(.cashier, .get, "/v1/pairings") { _, _ in
            .json(PairingsReply(pairings: backend.pairings.views()))
        }
        table.add(.cashier, .delete, "/v1/pairings/{id}") { _, context in
            let id = try context.parameters.require("id")
            return .json(try backend.pairings.revoke(percentDecoded(id) ?? id))
        }
    }

    private func addPayments(to table: LevelledRouter) {
        table.add(.spender, .post, "/v1/payments") { request, _ in
            let new = try NewPayment(try await fields(request))
            let created = try await backend.payments.create(new, key: try calls.key(of: request))
            return .created(created, status: .accepted)
        }
        table.add(.spender, .post, "/v1/refunds") { request, _ in
            let new = try await calls.newRefund(request)
            return .created(try await backend.createRefund(new), status: .accepted)
        }
        table.add(.spender, .get, "/v1/payments") { _, _ in
            .json(PaymentsReply(payments: await backend.payments.views()))
        }
        table.add(.spender, .get, "/v1/payments/{id}") { _, context in
            .json(try await backend.payments.view(of: try context.parameters.require("id")))
        }
        table.add(.spender, .delete, "/v1/payments/{id}") { _, context in
            .json(try await backend.payments.cancel(try context.parameters.require("id")))
        }
        table.add(.spender, .post, "/v1/resolve") { request, _ in
            let body = try ResolveRequest(try await fields(request))
            return .json(try await backend.resolve(body.eid))
        }
        table.add(.spender, .get, "/v1/wallet") { _, _ in .json(try await backend.wallet()) }
        addFunding(to: table)
        table.add(.spender, .post, "/v1/login") { request, _ in
            let login = try LocalLogin(try await fields(request))
            try await backend.logins.logIn(login)
            return .json(await backend.status())
        }
        table.add(.spender, .delete, "/v1/login") { _, _ in
            try await backend.logins.logOut()
            return .json(await backend.status())
        }
    }

    private func addFunding(to table: LevelledRouter) {
        table.add(.spender, .post, "/v1/wallet/deposits") { request, _ in
            let new = try NewDeposit(try await fields(request))
            return .json(try await backend.openDeposit(new, key: try calls.key(of: request)))
        }
        table.add(.spender, .get, "/v1/wallet/deposits") { _, _ in
            .json(try await backend.deposits())
        }
        table.add(.spender, .get, "/v1/wallet/deposits/{id}") { _, context in
            .json(try await backend.deposit(try context.parameters.require("id")))
        }
        table.add(.spender, .delete, "/v1/wallet/deposits/{id}") { _, context in
            .json(try await backend.cancelDeposit(try context.parameters.require("id")))
        }
        table.add(.spender, .post, "/v1/wallet/withdrawals") { request, _ in
            let new = try NewWithdrawal(try await fields(request))
            let created = try await backend.withdraw(new, key: try calls.key(of: request))
            return .created(created, status: .accepted)
        }
        table.add(.spender, .get, "/v1/wallet/withdrawals/{id}") { _, context in
            .json(try await backend.withdrawal(try context.parameters.require("id")))
        }
        table.add(.spender, .get, "/v1/earnings") { request, _ in
            .json(try await calls.earnings(request))
        }
        table.add(.spender, .get, "/v1/earnings/history") { request, _ in
            .json(try await calls.earningsHistory(request))
        }
        table.add(.spender, .get, "/v1/wallet/payouts") { _, _ in
            .json(try await backend.payouts())
        }
        table.add(.spender, .post, "/v1/wallet/payouts/link") { _, _ in
            .json(try await backend.payoutLink())
        }
    }

    /// Adds the contest calls. All but the entry are forwarded unchanged.
    private func addContests(to table: LevelledRouter) {
        let passed: [(AccessLevel, HTTPRequest.Method, String, (any ContestDocument.Type)?)] = [
            (.cashier, .get, "/v1/contests", ContestList.self),
            (.cashier, .get, "/v1/contests/{id}", ContestDetail.self),
            (.cashier, .get, "/v1/contests/{id}/leaderboard", Leaderboard.self),
            (.cashier, .get, "/v1/contests/{id}/settlement", SettlementReply.self),
            (.spender, .post, "/v1/contests/{id}/leave", ContestDetail.self),
            (.spender, .post, "/v1/contests/{id}/entries", EnteredRoster.self),
            (.spender, .post, "/v1/contests/{id}/objections", ContestDetail.self),
            // The calls of a contest's organiser.
            (.cashier, .post, "/v1/contests", ContestDetail.self),
            (.cashier, .delete, "/v1/contests/{id}", nil),
            (.spender, .post, "/v1/contests/{id}/publish", ContestDetail.self),
            (.cashier, .post, "/v1/contests/{id}/lock", ContestDetail.self),
            (.cashier, .post, "/v1/contests/{id}/scores", ScoresReply.self),
            (.cashier, .post, "/v1/contests/{id}/complete", ContestDetail.self),
            (.cashier, .post, "/v1/contests/{id}/dispute", ContestDetail.self),
            (.spender, .post, "/v1/contests/{id}/settle", SettlementReply.self),
            (.spender, .post, "/v1/contests/{id}/cancel", ContestDetail.self),
            (.cashier, .post, "/v1/contests/{id}/invite/renew", InvitationReply.self),
        ]
        for (level, method, path, document) in passed {
            let verb = String(path.dropFirst("/v1/contests/{id}".count))
            table.add(level, method, path) { request, context in
                try await calls.contest(document, verb, request, context)
            }
        }
        table.add(.spender, .post, "/v1/contests/{id}/join") { request, context in
            try await calls.joinContest(request, context)
        }
    }

    /// Answers `GET /v1/events`: sends the snapshot, then changes. With `sessions=true`, presences
    /// are sent too, and the radio listens.
    private func events(_ request: Request, _ context: LocalContext) async throws -> Response {
        let topics = EventTopic.readable(
            by: context.levels,
            wantsSessions: try wantsSessions(request)
        )
        return try await calls.events(topics, context)
    }

    private func wantsSessions(_ request: Request) throws -> Bool {
        guard let text = request.uri.queryParameters["sessions"] else { return false }
        guard let isWanted = Bool(String(text)) else {
            throw Problem.invalid("sessions must be true or false.")
        }
        return isWanted
    }

    /// Answers `GET /v1/recording?seconds=N`: sends one line of JSON for each item that the radio
    /// receives.
    private func recording(_ request: Request) async throws -> Response {
        let seconds = request.uri.queryParameters["seconds"].flatMap { Int($0) }
        guard let seconds, (1...LocalAPIVersion.maximumRecordingSeconds).contains(seconds) else {
            throw Problem.invalid(
                "seconds must be 1 to \(LocalAPIVersion.maximumRecordingSeconds)."
            )
        }
        let lines = try await backend.recording(seconds: seconds)
        return Response(
            status: .ok,
            headers: [.contentType: "application/x-ndjson"],
            body: ResponseBody { writer in
                for await line in lines.cancelOnGracefulShutdown() {
                    var buffer = ByteBuffer(bytes: line)
                    buffer.writeInteger(UInt8(ascii: "\n"))
                    try await writer.write(buffer)
                }
                try await writer.finish(nil)
            }
        )
    }

    private func fields(_ request: Request) async throws -> JSONFields {
        try await calls.fields(request)
    }
}
