import GotchuAPI
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix

/// The outermost middleware. It refuses requests that the entrance does not admit, and sets the
/// caller's levels. It converts every error to a problem document and adds the common headers.
struct AuthorizationMiddleware: RouterMiddleware {
    typealias Context = LocalContext

    let entrance: any Entrance
    let policy: @Sendable () -> AccessPolicy
    let version: String
    let traffic: LocalTraffic

    func handle(
        _ request: Request,
        context: LocalContext,
        next: @concurrent (Request, LocalContext) async throws -> Response
    ) async throws -> Response {
        var response: Response
        do {
            response = try await pass(request, context, next)
        } catch let problem as Problem {
            response = entrance.reply(problem, to: request)
        } catch let error as any HTTPResponseError {
            let problem = Self.problem(status: error.status, request)
            response = entrance.reply(problem, to: request)
        } catch is HTTPParserError {
            // The client has sent an incomplete or malformed body.
            let problem = Self.problem(status: .badRequest, request)
            response = entrance.reply(problem, to: request)
        } catch {
            context.logger.info("A local request failed", metadata: ["error": "\(error)"])
            let problem = Problem(.internalError, detail: "gotchud failed to answer.")
            response = entrance.reply(problem, to: request)
        }
        traffic.count(response.status.code)
        response.headers[Self.versionField] = version
        response.headers[Self.apiField] = LocalAPIVersion.current
        for field in entrance.headers where response.headers[field.name] == nil {
            response.headers.append(field)
        }
        // After HEAD the client reads no body. It would parse a body as the head of the next reply.
        return request.method == .head ? response.createHeadResponse() : response
    }

    private func pass(
        _ request: Request,
        _ context: LocalContext,
        _ next: @concurrent (Request, LocalContext) async throws -> Response
    ) async throws -> Response {
        try entrance.admit(request.head, on: context.channel)
        guard let peer = try await ConnectionLimitHandler.peer(of: context.channel) else {
            throw Problem.unknownCaller
        }
        let policy = policy()
        var context = context
        context.caller = (peer, policy)
        if let levels = policy.knownLevels(of: peer) {
            context.levels = levels
        } else {
            context.levels = try await NIOThreadPool.singleton.runIfActive {
                policy.levels(of: peer)
            }
        }
        guard context.levels.contains(entrance.lowestLevel) else {
            throw policy.refusal(of: entrance.lowestLevel, to: peer)
        }
        // The decoder accepts digits only, so a value that does not fit an Int is too large.
        if let length = request.headers[.contentLength],
            Int(length) ?? .max > LocalContext.bodyLimit
        {
            throw Self.problem(status: .contentTooLarge, request)
        }
        return try await next(request, context)
    }

    private static func problem(status: HTTPResponse.Status, _ request: Request) -> Problem {
        switch status.code {
        case 404:
            Problem(.notFound, detail: "There is nothing at \(request.uri.path.prefix(64)).")
        case 413:
            Problem(
                .contentTooLarge,
                detail: "A body may have \(LocalContext.bodyLimit) bytes at most."
            )
        default:
            Problem.invalid("The request could not be read.")
        }
    }

    private static let versionField = HTTPField.Name.valid(LocalAPIVersion.programHeader)
    private static let apiField = HTTPField.Name.valid(LocalAPIVersion.header)
}
