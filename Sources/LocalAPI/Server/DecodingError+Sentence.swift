extension DecodingError {
    /// One sentence that says what is wrong with a JSON body, and where.
    package var sentence: String {
        switch self {
        case .keyNotFound(let key, _): "\(key.stringValue) is missing."
        case .valueNotFound(_, let context): "\(Self.path(context)) must not be null."
        case .typeMismatch(_, let context): "\(Self.path(context)) has the wrong type."
        case .dataCorrupted(let context) where context.codingPath.isEmpty:
            "The body is not valid JSON."
        case .dataCorrupted(let context): "\(Self.path(context)) is not valid."
        @unknown default: "The body could not be read."
        }
    }

    private static func path(_ context: Context) -> String {
        context.codingPath.isEmpty
            ? "The body" : context.codingPath.map(\.stringValue).joined(separator: ".")
    }
}
