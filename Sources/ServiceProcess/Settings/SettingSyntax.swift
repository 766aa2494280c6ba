package import Logging

/// The syntax of a value. It is the same in flags, variables and files.
package struct SettingSyntax<Value>: Sendable {
    let form: SettingForm
    /// The message for an invalid value. It describes a valid one.
    private let problem: String
    /// Checks on this system a value with a valid syntax. Returns the problem; `nil` if there is
    /// none.
    private let check: @Sendable (Value) -> String?
    private let parse: @Sendable (String) -> Value?
    let write: @Sendable (Value) -> String

    /// - Parameters:
    ///   - problem: The message for an invalid value. It describes a valid one.
    ///   - check: Returns a message if a value with a valid syntax cannot be used.
    ///   - write: Returns the text of a value, for a bug report.
    ///   - parse: Returns the value of a text; `nil` if the text is not valid.
    package init(
        _ problem: String,
        form: SettingForm = .text,
        check: @escaping @Sendable (Value) -> String? = { _ in nil },
        write: @escaping @Sendable (Value) -> String = { "\($0)" },
        parse: @escaping @Sendable (String) -> Value?
    ) {
        self.form = form
        self.problem = problem
        self.check = check
        self.write = write
        self.parse = parse
    }

    func value(_ found: SettingText) throws(ConfigurationError) -> Value {
        guard let value = parse(found.text) else { throw found.error(problem) }
        if let problem = check(value) { throw found.error(problem) }
        return value
    }

    var optional: SettingSyntax<Value?> {
        SettingSyntax<Value?>(
            problem,
            form: form,
            check: { $0.flatMap(check) },
            write: { $0.map(write) ?? "(none)" },
            parse: { text in parse(text).map(Optional.some) }
        )
    }
}

/// A type that has the same syntax in every setting.
package protocol SettingValue: Equatable, Sendable {
    /// The message for an invalid value. It describes a valid one.
    static var rule: String { get }

    init?(_ text: String)
}

extension SettingSyntax where Value: SettingValue {
    /// The syntax that the type defines.
    package static var own: Self { Self(Value.rule) { Value($0) } }
}

/// The kinds of values in a configuration file.
package enum SettingForm: Equatable, Sendable {
    case text
    case boolean
    case wholeNumber
    case number
    /// A list of texts that contain no commas.
    case texts
    /// A list of user ids.
    case userIDs
    /// An object of numbers. Its members have these names.
    case numbers([String])
}

extension SettingSyntax<String> {
    /// Any text.
    package static var text: Self { Self("This must be a text.") { $0 } }

    /// An absolute path.
    package static func path(
        _ problem: String,
        check: @escaping @Sendable (String) -> String? = { _ in nil }
    ) -> Self {
        Self(problem, check: check) { $0.hasPrefix("/") ? $0 : nil }
    }
}

extension SettingSyntax<Bool> {
    /// `1`, `true` or `yes` for true, and `0`, `false` or `no` for false.
    package static var boolean: Self {
        Self("This must be true or false.", form: .boolean) { text in
            switch text.lowercased() {
            case "1", "true", "yes": true
            case "0", "false", "no": false
            default: nil
            }
        }
    }
}

extension SettingSyntax where Value: FixedWidthInteger & Sendable {
    /// A whole number within a range.
    package static func number(_ range: ClosedRange<Value>) -> Self {
        Self(
            "This must be a number from \(range.lowerBound) to \(range.upperBound).",
            form: .wholeNumber
        ) { text in
            Value(digits: text).flatMap { range.contains($0) ? $0 : nil }
        }
    }
}

extension SettingSyntax<Duration> {
    /// Whole seconds within a range.
    package static func seconds(_ range: ClosedRange<Int64>) -> Self {
        let number = SettingSyntax<Int64>.number(range)
        return Self(number.problem, form: number.form, write: { "\($0.components.seconds)" }) {
            number.parse($0).map { .seconds($0) }
        }
    }
}

extension SettingSyntax<Logger.Level> {
    /// The name of a log level.
    package static var logLevel: SettingSyntax<Logger.Level> {
        let names = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
        return Self("A log level is one of \(names).") { Logger.Level(rawValue: $0) }
    }
}
