/// The sources of settings. A flag overrides an environment variable, which overrides the file,
/// which overrides the defaults.
package struct SettingSources: Sendable {
    private let flags: [String: String]
    private let environment: [String: String]
    private let file: [String: SettingText]
    private let defaults: [String: String]

    /// - Parameters:
    ///   - flags: The command line's options, by setting key.
    ///   - environment: The environment variables of the process.
    ///   - file: The configuration file's settings, by key.
    ///   - defaults: The defaults that depend on the system, by setting key.
    package init(
        flags: [String: String?],
        environment: [String: String],
        file: [String: SettingText] = [:],
        defaults: [String: String?] = [:]
    ) {
        self.flags = flags.compactMapValues(\.self)
        self.environment = environment
        self.file = file
        self.defaults = defaults.compactMapValues(\.self)
    }

    func find<Root>(_ setting: Setting<Root>) -> SettingText? {
        if let text = flags[setting.key] {
            return SettingText(text, place: setting.flag, isFlag: true)
        }
        if let variable = setting.variable, let text = environment[variable] {
            return SettingText(text, place: variable)
        }
        return file[setting.key]
            ?? defaults[setting.key].map { SettingText($0, place: setting.key) }
    }
}

/// A setting's text, with its place.
package struct SettingText: Sendable {
    let text: String
    let place: String
    let isFlag: Bool

    /// - Parameter place: The place, as in `ConfigurationError`.
    package init(_ text: String, place: String, isFlag: Bool = false) {
        self.text = text
        self.place = place
        self.isFlag = isFlag
    }

    func error(_ problem: String) -> ConfigurationError {
        ConfigurationError(place: place, problem: problem, isFlag: isFlag)
    }
}

/// An error in the configuration, with its place.
package struct ConfigurationError: Error, Equatable, Sendable {
    /// The option, the variable, or the file and line: `--radio`, `GOTCHU_RADIO`,
    /// `/etc/gotchu/gotchud.json:3`.
    package let place: String
    /// The problem in one sentence. It contains no value of which a part is secret.
    package let problem: String
    /// A Boolean that is true if the error is in the command line.
    package let isFlag: Bool

    /// Creates an error at a place.
    package init(place: String, problem: String, isFlag: Bool = false) {
        self.place = place
        self.problem = problem
        self.isFlag = isFlag
    }
}
