internal import GotchuAPI
internal import Hummingbird
internal import NIOCore

extension Request {
    /// The largest body that is read by default, in bytes.
    static let bodyLimit = 64 * 1024

    /// Parses a JSON body.
    ///
    /// - Throws: A problem: 415 for another type or a compressed body, 413 if it is too large, 400
    ///   if it is malformed.
    consuming func fields() async throws -> JSONFields {
        guard hasJSONBody else {
            throw Problem(
                .unsupportedMediaType,
                detail: "The body must be application/json.",
                fix: "Send the header Content-Type: application/json."
            )
        }
        guard isPlain else {
            throw Problem(
                .unsupportedMediaType,
                detail: "The body must not be compressed.",
                fix: "Leave the header Content-Encoding out."
            )
        }
        return try JSONFields(Array(try await wholeBody().readableBytesView))
    }

    /// Returns the body once all of it is received.
    ///
    /// - Parameter limit: The largest body that is read, in bytes.
    /// - Throws: A problem: 413 if it is too large, 400 if it is incomplete.
    func wholeBody(limit: Int = bodyLimit) async throws -> ByteBuffer {
        // The decoder accepts digits only, so a value that does not fit an Int is too large.
        if let length = headers[.contentLength], Int(length) ?? .max > limit {
            throw Problem.tooLarge(limit)
        }
        do {
            return try await body.collect(upTo: limit)
        } catch is NIOTooManyBytesError {
            throw Problem.tooLarge(limit)
        } catch {
            // The client disconnected or took too long. This is no failure of the server.
            throw Problem.invalid("The body did not come whole.")
        }
    }

    private var isPlain: Bool {
        headers[.contentEncoding].map { $0.lowercased() == "identity" } ?? true
    }

    private var hasJSONBody: Bool {
        guard let type = headers[.contentType] else { return false }
        if type == "application/json" { return true }
        let name = type.prefix { $0 != ";" }.filter { $0 != " " }
        return name.lowercased() == "application/json"
    }
}
