internal import Hummingbird

/// Finds the answer to a request for an event stream on a stack of its own.
///
/// A task keeps the largest stack it ever had until it ends. A stream's task may wait for hours and
/// needs little; what routes, tokens and the ledger needed for a moment before it would be 10 KiB
/// more for each stream that is open.
struct StreamResponder<Base: HTTPResponder>: HTTPResponder where Base.Context: Sendable {
    let base: Base

    @Sendable func respond(to request: Request, context: Base.Context) async throws -> Response {
        guard request.method == .get, request.uri.path.hasSuffix("/events") else {
            return try await base.respond(to: request, context: context)
        }
        return try await withThrowingTaskGroup(of: Response.self) { group in
            group.addTask { try await base.respond(to: request, context: context) }
            guard let response = try await group.next() else {
                preconditionFailure("a child task ends before its group")
            }
            return response
        }
    }
}
