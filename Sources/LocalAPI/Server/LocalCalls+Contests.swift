import GotchuAPI
import GotchuCore
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore

/// The contest calls. The daemon forwards them to the payment server unchanged, except entries,
/// which it journals.
extension LocalCalls {
    /// - Parameters:
    ///   - document: The type of the document in the reply.
    ///   - verb: The rest of the path after the contest's id.
    func contest(
        _ document: (any ContestDocument.Type)?,
        _ verb: String,
        _ request: Request,
        _ context: LocalContext
    ) async throws -> Response {
        let method = ContestAction.Method(rawValue: request.method.rawValue) ?? .get
        let contest = try contest(context).map { "/\($0)" } ?? ""
        let query = request.uri.query.map { "?\($0)" } ?? ""
        var call = ContestCall(method, contest + verb + query, document: document)
        call.key = try key(of: request)
        call.language = request.short(.acceptLanguage)
        if method == .get { call.knownTag = request.short(.ifNoneMatch) }
        if method == .post {
            let buffer = try await request.body.collect(upTo: LocalContext.bodyLimit)
            let bytes = Array(buffer.readableBytesView)
            call.body = bytes.isEmpty ? Array("{}".utf8) : bytes
        }
        return .contest(try await backend.contest(call))
    }

    /// Enters a contest. The caller must give an idempotency key.
    func joinContest(_ request: Request, _ context: LocalContext) async throws -> Response {
        guard let key = try key(of: request) else {
            throw Problem(
                .idempotencyKeyRequired,
                detail: "An entry needs the header Idempotency-Key."
            )
        }
        guard let contest = try contest(context) else { throw Problem.noContest }
        let new = try NewContestEntry(
            contest,
            try await fields(request),
            language: request.short(.acceptLanguage)
        )
        return .contest(try await backend.joinContest(new, key: key))
    }

    /// Returns the id of the contest in the path; `nil` if the path has none.
    private func contest(_ context: LocalContext) throws -> WireUUID? {
        guard let text = context.parameters.get("id") else { return nil }
        guard let id = WireUUID(text) else { throw Problem.noContest }
        return id
    }
}

extension Problem {
    fileprivate static var noContest: Problem {
        Problem(
            .contestNotFound,
            detail: "There is no such contest.",
            fix: "gotchu-ctl contest list"
        )
    }
}

extension Request {
    /// The maximum length of a header value that is forwarded, in bytes.
    private static let passedLimit = 256

    /// Returns a header's value; `nil` if the header is missing, too long to be forwarded, or was
    /// not ASCII.
    fileprivate func short(_ name: HTTPField.Name) -> String? {
        headers[name].flatMap { value in
            value.utf8.count <= Self.passedLimit && !value.utf8.contains(0x7F) ? value : nil
        }
    }
}

extension Response {
    fileprivate static func contest(_ answer: ContestAnswer) -> Response {
        var response: Response
        if let bytes = answer.bytes {
            response = Response(
                status: .ok,
                headers: [.contentType: "application/json"],
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes))
            )
        } else {
            response = Response(status: answer.tag == nil ? .noContent : .notModified)
        }
        if let tag = answer.tag { response.headers[.eTag] = tag }
        if answer.isReplay { response.headers[.idempotentReplayed] = "true" }
        return response
    }
}
