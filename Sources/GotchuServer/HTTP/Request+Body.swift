internal import GotchuAPI
internal import Hummingbird
internal import NIOCore

extension Request {
    /// The largest body that is read.
    static let bodyLimit = 64 * 1024

    /// Returns the largest body, in bytes, of a request to an address.
    ///
    /// - Parameter target: A request's target, as in its first line.
    static func bodyLimit(of target: String) -> Int {
        target == StripeWebhook.path ? StripeWebhook.bodyLimit : bodyLimit
    }

    /// Parses a JSON body.
    ///
    /// - Throws: A problem: 415 for another type, 413 for too much, 400 for anything malformed.
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

    /// Returns the body once all of it has arrived.
    ///
    /// - Parameter limit: The largest body that is read, in bytes.
    /// - Throws: A problem: 413 for too much, 400 if it breaks off.
    func wholeBody(limit: Int = bodyLimit) async throws -> ByteBuffer {
        // The decoder has checked for digits: a value that does not fit an Int is too large.
        if let length = headers[.contentLength], Int(length) ?? .max > limit {
            throw Problem.tooLarge(limit)
        }
        do {
            return try await body.collect(upTo: limit)
        } catch is NIOTooManyBytesError {
            throw Problem.tooLarge(limit)
        } catch {
            // The client has gone, or took too long: no failure of ours.
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
