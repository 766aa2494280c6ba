import FoundationEssentials
import Glibc
import GotchuAPI
internal import GotchuCore
import ServiceProcess

/// The settings of `gotchud.json` by key: each value as the text of an environment variable, with
/// its line.
struct ConfigurationFile: Sendable {
    private(set) var settings: [String: SettingText] = [:]
    private var path = ""
    private var text = ""

    /// Creates the settings of a missing file.
    init() {}

    /// Reads a file. An error names the file and, if known, the line.
    init(path: String) throws(ConfigurationError) {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw ConfigurationError(
                place: path,
                problem: "The file cannot be read: \(Self.readProblem(path))."
            )
        }
        guard let text = String(data: data, encoding: .utf8) else {
            throw ConfigurationError(place: path, problem: "The file is not UTF-8 text.")
        }
        self.path = path
        self.text = text
        for (key, value) in try members().sorted(by: { $0.key < $1.key }) {
            switch value {
            case _ where !Self.isGroup(key): try read(value, key)
            case .object(let members):
                for (name, member) in members.sorted(by: { $0.key < $1.key }) {
                    try read(member, name, in: key + ".")
                }
            case .null: continue
            case .string, .boolean, .integer, .otherNumber, .array:
                throw configurationError(key, Self.noObject)
            }
        }
    }

    /// Returns true if a key names an object whose members are settings.
    private static func isGroup(_ key: String) -> Bool {
        DaemonConfiguration.table.contains { $0.key.hasPrefix(key + ".") }
    }

    private mutating func read(
        _ value: JSONValue,
        _ name: String,
        in group: String = ""
    ) throws(ConfigurationError) {
        let key = group + name
        guard let setting = DaemonConfiguration.table.first(where: { $0.key == key }) else {
            throw unknownKey(name)
        }
        guard let text = try text(of: value, name, setting.form) else { return }
        settings[key] = SettingText(text, place: place(of: name))
    }

    /// Returns true if a file exists. An unreadable file counts as existing: the defaults must not
    /// replace it.
    static func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 || (errno != ENOENT && errno != ENOTDIR)
    }

    /// Returns the reason why a file cannot be read.
    static func readProblem(_ path: String) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return String(cString: strerror(errno)) }
        close(descriptor)
        return "it is not a file"
    }

    /// Returns the members of the file's one JSON object. A repeated name is an error: it is not
    /// clear which of its values applies.
    private func members() throws(ConfigurationError) -> [String: JSONValue] {
        do throws(JSONReader.Malformed) {
            return try JSONReader.object(Array(text.utf8))
        } catch {
            throw ConfigurationError(
                place: place(at: text.utf8.index(text.startIndex, offsetBy: error.offset)),
                problem: error.repeatedName.map { "\($0): This key stands twice." }
                    ?? "This is not a valid JSON object."
            )
        }
    }

    /// Returns a value as the text of an environment variable; `nil` for null, which counts as
    /// absent.
    private func text(
        of value: JSONValue,
        _ key: String,
        _ form: SettingForm
    ) throws(ConfigurationError) -> String? {
        switch (form, value) {
        case (_, .null): return nil
        case (.text, .string(let text)): return text
        case (.boolean, .boolean(let isOn)): return "\(isOn)"
        case (.wholeNumber, _): return try digits(of: value, key)
        case (.number, _): return "\(try number(of: value, key, in: key))"
        case (.texts, .array(let items)):
            let texts = try items.map { item throws(ConfigurationError) in
                guard case .string(let text) = item, !text.contains(",") else {
                    throw configurationError(key, "This must be a list of texts.")
                }
                return text
            }
            return texts.joined(separator: ",")
        case (.userIDs, .array(let items)):
            let userIDs = try items.map { item throws(ConfigurationError) in
                try digits(of: item, key)
            }
            return userIDs.joined(separator: ",")
        case (.numbers(let names), .object(let members)):
            var parts: [String] = []
            for (name, member) in members.sorted(by: { $0.key < $1.key }) {
                guard names.contains(name) else { throw unknownKey(name) }
                if member == .null { continue }
                parts.append("\(name)=\(try number(of: member, name, in: key))")
            }
            return parts.joined(separator: ",")
        case (.text, _): throw configurationError(key, "This must be text in quotes.")
        case (.boolean, _): throw configurationError(key, "This must be true or false.")
        case (.userIDs, _), (.texts, _): throw configurationError(key, "This must be a list.")
        case (.numbers, _): throw configurationError(key, Self.noObject)
        }
    }

    private static let numberOutOfRange = "No such number can be here."
    private static let noObject = "This must be an object."

    private func number(
        of value: JSONValue,
        _ name: String,
        in key: String
    ) throws(ConfigurationError) -> Double {
        guard let number = value.number else {
            throw configurationError(name, "This must be a number.")
        }
        guard number.isFinite else { throw configurationError(key, Self.numberOutOfRange) }
        return number
    }

    private func digits(of value: JSONValue, _ key: String) throws(ConfigurationError) -> String {
        guard let number = value.number else {
            throw configurationError(key, "This must be a whole number.")
        }
        guard let whole = UInt32(exactly: number) else {
            throw configurationError(key, Self.numberOutOfRange)
        }
        return "\(whole)"
    }

    /// Returns the error for an unknown key. If unknown keys were ignored, a mistyped key would set
    /// nothing.
    private func unknownKey(_ key: String) -> ConfigurationError {
        configurationError(key, "There is no setting with this name.")
    }

    private func configurationError(_ key: String, _ problem: String) -> ConfigurationError {
        ConfigurationError(place: place(of: key), problem: "\(key): \(problem)")
    }

    /// Returns the place of a key's first occurrence as `FILE:LINE`. Lines are counted from 1.
    private func place(of key: String) -> String {
        place(at: text.firstRange(of: "\"\(key)\"")?.lowerBound ?? text.startIndex)
    }

    private func place(at index: String.Index) -> String {
        "\(path):\(1 + text.utf8[..<index].count { $0 == UInt8(ascii: "\n") })"
    }
}

extension JSONValue {
    /// The nearest `Double`; infinite if the number is too large, `nil` if the value is not a
    /// number.
    fileprivate var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .otherNumber(let value): value
        case .null, .boolean, .string, .array, .object: nil
        }
    }
}
