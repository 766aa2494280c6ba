import GotchuAPI
package import HTTPTypes
import Hummingbird
package import HummingbirdCore

/// A router that requires an access level for each route.
package final class LevelledRouter {
    private let router: Router<LocalContext>
    /// The methods of each path.
    private var methods: [String: [HTTPRequest.Method]] = [:]

    init(router: Router<LocalContext>) {
        self.router = router
    }

    /// Adds a route. A `GET` route also gets a `HEAD` route (RFC 9110, 9.3.2). The middleware
    /// removes the body of the `HEAD` reply.
    package func add(
        _ level: AccessLevel,
        _ method: HTTPRequest.Method,
        _ path: String,
        _ handler: @escaping @Sendable (Request, LocalContext) async throws -> Response
    ) {
        addStream(level, method, path, handler)
        if method == .get { addStream(level, .head, path, handler) }
    }

    /// Adds a route whose reply does not end by itself. Such a route gets no `HEAD`.
    package func addStream(
        _ level: AccessLevel,
        _ method: HTTPRequest.Method,
        _ path: String,
        _ handler: @escaping @Sendable (Request, LocalContext) async throws -> Response
    ) {
        methods[path, default: []].append(method)
        router.on(RouterPath(path), method: method) { request, context in
            guard context.levels.contains(level) else { throw context.refusal(of: level) }
            return try await handler(request, context)
        }
    }

    /// Refuses all other methods of each path. The refusal lists the allowed methods.
    func refuseOtherMethods() {
        let all: [HTTPRequest.Method] = [
            .get, .head, .post, .put, .patch, .delete, .options, .trace, .connect,
        ]
        for (path, own) in methods {
            let allowed = own.map(\.rawValue).joined(separator: ", ")
            for method in all where !own.contains(method) {
                router.on(RouterPath(path), method: method) { _, _ in
                    var response = Response.problem(
                        Problem(.methodNotAllowed, detail: "This address takes \(allowed) only.")
                    )
                    response.headers[.allow] = allowed
                    return response
                }
            }
        }
    }
}
