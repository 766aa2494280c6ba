internal import GotchuAPI
internal import GotchuCore
internal import HTTPTypes
internal import Hummingbird

/// The fields of a form. Reading a field removes it. `end` refuses the fields that are left.
struct FormFields: Sendable {
    /// The maximum number of fields of most forms.
    static let fieldLimit = 32
    /// The maximum length of the body in bytes. The longest body is a table of scores.
    static let lengthLimit = 48 * 1024

    private var values: [String: String] = [:]

    /// Parses a form's body (`application/x-www-form-urlencoded`, WHATWG URL, 5.1).
    ///
    /// - Throws: A problem: 415 for another type or a compressed body, 413 for a body that is too
    ///   long, 400 if it is malformed or has too many fields.
    init(_ request: Request, limit: Int = fieldLimit) async throws {
        let type = request.headers[.contentType]?.prefix { $0 != ";" }
            .filter { $0 != " " }.lowercased()
        guard type == "application/x-www-form-urlencoded",
            request.headers[.contentEncoding] == nil
        else {
            throw Problem(
                .unsupportedMediaType,
                detail: "The body must be application/x-www-form-urlencoded, and not compressed."
            )
        }
        let body = try await request.wholeBody()
        guard body.readableBytes <= Self.lengthLimit else {
            throw Problem(
                .contentTooLarge,
                detail: "A form may have at most \(Self.lengthLimit / 1024) KiB."
            )
        }
        try self.init(bytes: body.readableBytesView, limit: limit)
    }

    /// Bytes are split, because a search by characters compares them by canonical equivalence.
    private init(bytes: some Collection<UInt8>, limit: Int) throws(Problem) {
        guard !bytes.isEmpty else { return }
        let pairs = bytes.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
        guard pairs.count <= limit else {
            throw .invalid("The form has too many fields.")
        }
        for pair in pairs {
            let parts = pair.split(
                separator: UInt8(ascii: "="),
                maxSplits: 1,
                omittingEmptySubsequences: false
            )
            let texts = parts.map { part in
                percentDecoded(part.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 })
            }
            guard texts.count == 2, let name = texts[0], name.isASCII, let value = texts[1],
                values.updateValue(value, forKey: name) == nil
            else { throw .invalid("The form cannot be understood.") }
        }
    }

    /// The names of the fields that have not been read.
    var names: [String] { values.keys.sorted() }

    /// Removes a field and returns its value in ASCII, such as an id or a choice; `nil` if it is
    /// absent.
    mutating func text(_ name: String) -> String? {
        typed(name)?.maskingNonASCII
    }

    /// Removes a field and returns what a person has typed, in any script; `nil` if it is absent.
    mutating func typed(_ name: String) -> String? {
        values.removeValue(forKey: name)
    }

    /// Removes and returns the idempotency key; `nil` if it is absent or malformed.
    mutating func key() -> IdempotencyKey? {
        text("key").flatMap { IdempotencyKey(rawValue: $0) }
    }

    /// Reads the required idempotency key, then refuses fields that have not been read. It must be
    /// called last.
    mutating func keyAtEnd() throws(Problem) -> IdempotencyKey {
        let key = key()
        try end()
        guard let key else { throw .malformedKey }
        return key
    }

    /// Refuses fields that have not been read.
    consuming func end() throws(Problem) {
        guard values.isEmpty else { throw .invalid("The form has a field that is not known here.") }
    }
}
