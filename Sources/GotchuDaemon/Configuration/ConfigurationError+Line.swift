import GotchuAPI

extension ConfigurationError {
    /// What a decoding error means for somebody who edits the file.
    init(decoding error: DecodingError, path: String, text: String) {
        let context: DecodingError.Context
        let problem: String
        switch error {
        case .typeMismatch(let type, let found):
            (context, problem) = (found, "A value of another type than \(type) stands here.")
        case .valueNotFound(_, let found): (context, problem) = (found, "null is not a value.")
        case .keyNotFound(let key, let found):
            (context, problem) = (found, "\(key.stringValue) is missing.")
        case .dataCorrupted(let found) where found.debugDescription == UnknownKey.mark:
            (context, problem) = (found, "There is no setting of this name.")
        case .dataCorrupted(let found): (context, problem) = (found, "This is not valid JSON.")
        @unknown default:
            (context, problem) = (.init(codingPath: [], debugDescription: ""), "It cannot be read.")
        }
        let key = context.codingPath.last { $0.intValue == nil }?.stringValue
        let line =
            Self.lineOfSyntaxError(in: text)
            ?? key.flatMap { Self.line(of: $0, in: text) } ?? 1
        self.init(
            place: "\(path):\(line)",
            problem: key.map { "\($0): \(problem)" } ?? problem
        )
    }

    /// The line, from 1, on which a key stands first.
    static func line(of key: String, in text: String) -> Int? {
        text.firstRange(of: "\"\(key)\"").map { line(at: $0.lowerBound, in: text) }
    }

    /// The line on which the text stops being a JSON object; the decoder does not tell.
    private static func lineOfSyntaxError(in text: String) -> Int? {
        do throws(JSONReader.Malformed) {
            _ = try JSONReader.object(Array(text.utf8))
            return nil
        } catch {
            return line(atByte: error.offset, in: text)
        }
    }

    private static func line(atByte offset: Int, in text: String) -> Int {
        line(at: text.utf8.index(text.startIndex, offsetBy: offset), in: text)
    }

    private static func line(at index: String.Index, in text: String) -> Int {
        1 + text.utf8[..<index].count { $0 == UInt8(ascii: "\n") }
    }
}
