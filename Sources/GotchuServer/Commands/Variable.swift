internal import ArgumentParser
internal import Glibc

/// An option's value from the environment, for what the command line does not say.
enum Variable {
    /// Reads `GOTCHU_SERVER_<NAME>`; empty is as good as absent.
    ///
    /// - Parameters:
    ///   - form: How such a value is written, for a person who wrote it otherwise.
    static func value<Value>(
        _ name: String,
        _ form: String,
        _ read: (String) -> Value?
    ) throws -> Value? {
        guard let text = getenv("GOTCHU_SERVER_\(name)").map({ String(cString: $0) }),
            !text.isEmpty
        else { return nil }
        guard let value = read(text) else {
            // The text is not repeated: it may hold a password.
            throw ServerFailure(
                .configuration,
                "GOTCHU_SERVER_\(name) is not \(form).",
                fix: "Correct it, or leave it out."
            )
        }
        return value
    }

    /// A text.
    static func text(_ name: String) throws -> String? {
        try value(name, "a text") { $0 }
    }

    /// `1`, `true` or `yes`, or the opposite.
    static func isOn(_ name: String) throws -> Bool {
        try value(name, "true or false") { text in
            switch text.lowercased() {
            case "1", "true", "yes": true
            case "0", "false", "no": false
            default: nil
            }
        } ?? false
    }
}
