import GotchuAPI
import GotchuCore
import HTTPTypes
import Hummingbird
import HummingbirdCore
package import LocalAPI
import NIOCore
package import Pages

/// The till's port: its page, and the calls of a paired page.
///
/// Each call needs the caller's level and the till's bearer token. The level alone is not enough:
/// the user of the till's browser may also run other programs.
package struct TillRoutes: Sendable {
    private let calls: LocalCalls
    private let tills: any TillRegistry
    private let page: TillPage

    package init(calls: LocalCalls, tills: any TillRegistry, page: TillPage) {
        self.calls = calls
        self.tills = tills
        self.page = page
    }

    package func add(to table: LevelledRouter) {
        table.add(.cashier, .get, "/till") { _, _ in .page(page.html) }
        table.add(.cashier, .post, "/v1/pairings") { _, context in
            .json(try tills.begin(by: try context.userID))
        }
        table.add(.cashier, .post, "/v1/pairings/outcome") { request, _ in
            var fields = try await calls.fields(request)
            let ticket = try fields.string("ticket") ?? ""
            try fields.rejectUnreadMembers()
            return .json(try tills.outcome(ofTicket: ticket))
        }
        add(to: table, .get, "/v1/till") { till, _, _ in .json(till.view) }
        addMoney(to: table)
        table.addStream(.cashier, .get, "/v1/events") { request, context in
            try await events(request, context)
        }
        add(to: table, .get, "/v1/report") { _, request, _ in
            .json(try await calls.report(request))
        }
        add(to: table, .get, "/v1/report.csv") { _, request, _ in
            let report = try await calls.report(request)
            return Response(
                status: .ok,
                headers: [.contentType: "text/csv; charset=utf-8; header=present"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: report.csv))
            )
        }
    }

    private func addMoney(to table: LevelledRouter) {
        add(to: table, .post, "/v1/requests") { _, request, _ in
            try await calls.createRequest(request)
        }
        add(to: table, .get, "/v1/requests") { _, _, _ in await calls.requests() }
        add(to: table, .get, "/v1/requests/{id}") { _, _, context in
            try await calls.request(context)
        }
        add(to: table, .post, "/v1/requests/{id}/refresh") { _, _, context in
            try await calls.refreshRequest(context)
        }
        add(to: table, .delete, "/v1/requests/{id}") { _, _, context in
            try await calls.cancelRequest(context)
        }
        add(to: table, .post, "/v1/refunds") { till, request, _ in
            let new = try await calls.newRefund(request)
            let created = try await tills.refund(new, byToken: till.token) {
                new throws(Problem) in try await calls.backend.createRefund(new)
            }
            return .created(created, status: .accepted)
        }
    }

    private func events(_ request: Request, _ context: LocalContext) async throws -> Response {
        try await calls.tillEvents(context) { () throws(Problem) in _ = try till(of: request) }
    }

    /// The till of a request's token.
    private struct CallingTill {
        let view: PairingView
        let token: String
    }

    private func add(
        to table: LevelledRouter,
        _ method: HTTPRequest.Method,
        _ path: String,
        _ handler: @escaping @Sendable (CallingTill, Request, LocalContext) async throws -> Response
    ) {
        table.add(.cashier, method, path) { request, context in
            try await handler(try till(of: request), request, context)
        }
    }

    private func till(of request: Request) throws(Problem) -> CallingTill {
        let scheme = "Bearer "
        let fields = request.headers[values: .authorization]
        guard fields.count == 1, fields[0].hasPrefix(scheme) else { throw Self.unpaired }
        let token = String(fields[0].dropFirst(scheme.count))
        guard let view = tills.till(ofToken: token) else { throw Self.unpaired }
        return CallingTill(view: view, token: token)
    }

    private static let unpaired = Problem(
        .unauthorized,
        detail: "This till is not paired, or not any more.",
        fix: "Open its page and type its code: gotchu-ctl till pair"
    )
}
