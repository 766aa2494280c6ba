import GotchuCore

/// One setting of a program, as a row of the program's table.
package struct Setting<Root: Settings>: Sendable {
    /// The name in the configuration file, such as `ca_file`. For a setting within an object, the
    /// name has the object's name in front: `screens.display`. The other names are made from it.
    package let key: String
    /// The command line's option, such as `--ca-file`. A program need not declare it.
    let flag: String
    /// The environment variable, such as `GOTCHU_CA_FILE`; `nil` if there is none.
    let variable: String?
    /// The kind of the value in a file.
    package let form: SettingForm
    /// A Boolean that is true if a reload applies a change, and false if a change needs a restart.
    let isReloaded: Bool

    let read: @Sendable (SettingText, inout Root) throws(ConfigurationError) -> Void
    let copy: @Sendable (Root, inout Root) -> Void
    let isSame: @Sendable (Root, Root) -> Bool
    let text: @Sendable (Root) -> String

    /// Creates a setting that always has a value.
    ///
    /// - Parameters:
    ///   - path: The property for the value.
    ///   - syntax: The syntax of the value.
    ///   - flag: The option without dashes, if it cannot be made from the key.
    ///   - variable: False if the setting has no environment variable.
    ///   - isReloaded: True if a reload applies a change; false if a change needs a restart.
    package init<Value: Equatable & Sendable>(
        _ key: String,
        _ path: any WritableKeyPath<Root, Value> & Sendable,
        _ syntax: SettingSyntax<Value>,
        flag: String? = nil,
        variable hasVariable: Bool = true,
        isReloaded: Bool = false
    ) {
        self.key = key
        self.flag = "--" + (flag ?? key.replacing("_", with: "-").replacing(".", with: "-"))
        variable = hasVariable ? Root.prefix + key.uppercased().replacing(".", with: "_") : nil
        form = syntax.form
        self.isReloaded = isReloaded
        read = { found, root throws(ConfigurationError) in
            // Such characters come from a mistake, and a path would end at a NUL.
            guard !found.text.unicodeScalars.contains(where: \.controlsText) else {
                throw found.error("\(key): This has a line end or another invisible character.")
            }
            root[keyPath: path] = try syntax.value(found)
        }
        copy = { $1[keyPath: path] = $0[keyPath: path] }
        isSame = { $0[keyPath: path] == $1[keyPath: path] }
        text = { syntax.write($0[keyPath: path]) }
    }

    /// Creates a setting that may be absent.
    package init<Value: Equatable & Sendable>(
        _ key: String,
        _ path: any WritableKeyPath<Root, Value?> & Sendable,
        _ syntax: SettingSyntax<Value>
    ) {
        self.init(key, path, syntax.optional)
    }
}

/// The resolved settings of a program: a value that starts with the defaults, and the table of its
/// settings.
package protocol Settings: Sendable {
    /// The prefix of the environment variables, such as `GOTCHU_`.
    static var prefix: String { get }
    /// All settings. Each setting occurs once.
    static var table: [Setting<Self>] { get }
}

extension Settings {
    /// Applies the sources. A setting that no source contains stays unchanged.
    package mutating func resolve(
        _ settings: [Setting<Self>] = Self.table,
        from sources: SettingSources
    ) throws(ConfigurationError) {
        for setting in settings {
            if let found = sources.find(setting) { try setting.read(found, &self) }
        }
    }

    /// Returns the variables that look like settings but set nothing. Most of them are mistyped.
    package static func unknownVariables(
        among names: some Sequence<String>,
        where looksLikeOurs: (String) -> Bool
    ) -> [String] {
        let known = Set(table.compactMap(\.variable))
        return names.filter { !known.contains($0) && looksLikeOurs($0) }.sorted()
    }

    /// Returns the settings after a reload. Only the settings that may change while the program
    /// runs are replaced.
    package func reloaded(from new: Self) -> Self {
        var reloaded = self
        for setting in Self.table where setting.isReloaded { setting.copy(new, &reloaded) }
        return reloaded
    }

    /// Returns true if a setting has changed that needs a restart.
    package func needsRestart(for new: Self) -> Bool {
        Self.table.contains { !$0.isReloaded && !$0.isSame(self, new) }
    }

    /// All settings with their values, for a bug report.
    package var lines: [(key: String, value: String)] {
        Self.table.map { ($0.key, $0.text(self)) }
    }
}
