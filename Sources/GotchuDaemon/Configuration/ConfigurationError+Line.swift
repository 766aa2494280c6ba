import GotchuAPI

extension ConfigurationError {
    /// Refuses what is no JSON object, and one that names a key twice: which of the two counts
    /// must not be guessed.
    static func requireObject(_ text: String, path: String) throws(ConfigurationError) {
        do throws(JSONReader.Malformed) {
            _ = try JSONReader.object(Array(text.utf8))
        } catch {
            let line = line(atByte: error.offset, in: text)
            throw ConfigurationError(
                place: "\(path):\(line)",
                problem: "This is not a valid JSON object, or names a key twice."
            )
        }
    }

    /// What a decoding error means for somebody who edits the file.
    init(decoding error: DecodingError, path: String, text: String) {
        let context: DecodingError.Context
        let problem: String
        switch error {
        case .typeMismatch(let type, let found):
            (context, problem) = (found, "This must be \(Self.noun(for: type)).")
        case .valueNotFound(_, let found): (context, problem) = (found, "null is not a value.")
        case .keyNotFound(let key, let found):
            (context, problem) = (found, "\(key.stringValue) is missing.")
        case .dataCorrupted(let found) where found.debugDescription == UnknownKey.mark:
            (context, problem) = (found, "There is no setting of this name.")
        case .dataCorrupted(let found): (context, problem) = (found, "No such number can be here.")
        @unknown default:
            (context, problem) = (.init(codingPath: [], debugDescription: ""), "It cannot be read.")
        }
        let key = context.codingPath.last { $0.intValue == nil }?.stringValue
        self.init(
            place: "\(path):\(key.flatMap { Self.line(of: $0, in: text) } ?? 1)",
            problem: key.map { "\($0): \(problem)" } ?? problem
        )
    }

    /// The line, from 1, on which a key stands first.
    static func line(of key: String, in text: String) -> Int? {
        text.firstRange(of: "\"\(key)\"").map { line(at: $0.lowerBound, in: text) }
    }

    /// A type of a setting, in words.
    private static func noun(for type: any Any.Type) -> String {
        switch type {
        case is String.Type: "text in quotes"
        case is Bool.Type: "true or false"
        case is Double.Type: "a number"
        case is any FixedWidthInteger.Type: "a whole number"
        case is [Any].Type: "a list"
        default: "an object"
        }
    }

    private static func line(atByte offset: Int, in text: String) -> Int {
        line(at: text.utf8.index(text.startIndex, offsetBy: offset), in: text)
    }

    private static func line(at index: String.Index, in text: String) -> Int {
        1 + text.utf8[..<index].count { $0 == UInt8(ascii: "\n") }
    }
}
