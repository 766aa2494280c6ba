/// One setting of a program: a row of its table.
package struct Setting<Root: Settings>: Sendable {
    /// The name in the configuration file, from which the others are made: `ca_file`; of one
    /// within an object, `screens.display`.
    package let key: String
    /// The option of the command line, if the program declares one: `--ca-file`.
    let flag: String
    /// The environment variable, `GOTCHU_CA_FILE`; `nil` if there is none.
    let variable: String?
    /// The kind of its value in a file.
    package let form: SettingForm
    /// A Boolean that is false if a change needs a restart.
    let isReloaded: Bool

    let read: @Sendable (SettingText, inout Root) throws(ConfigurationError) -> Void
    let copy: @Sendable (Root, inout Root) -> Void
    let isSame: @Sendable (Root, Root) -> Bool
    let text: @Sendable (Root) -> String

    /// Makes a setting that always has a value.
    ///
    /// - Parameters:
    ///   - path: The property of its value.
    ///   - syntax: The syntax of its value.
    ///   - flag: The option without its dashes, if its name is not the key's.
    ///   - variable: False if no variable sets it.
    ///   - isReloaded: False if a change needs a restart.
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
            root[keyPath: path] = try syntax.value(found)
        }
        copy = { $1[keyPath: path] = $0[keyPath: path] }
        isSame = { $0[keyPath: path] == $1[keyPath: path] }
        text = { syntax.write($0[keyPath: path]) }
    }

    /// Makes a setting that may be absent.
    package init<Value: Equatable & Sendable>(
        _ key: String,
        _ path: any WritableKeyPath<Root, Value?> & Sendable,
        _ syntax: SettingSyntax<Value>
    ) {
        self.init(key, path, syntax.optional)
    }
}

/// The resolved settings of a program: a value with the defaults, and the table that fills it.
package protocol Settings: Sendable {
    /// The prefix of the variables' names: `GOTCHU_`.
    static var prefix: String { get }
    /// All settings, each once.
    static var table: [Setting<Self>] { get }
}

extension Settings {
    /// Applies the sources; settings that none of them names stay unchanged.
    package mutating func resolve(
        _ settings: [Setting<Self>] = Self.table,
        from sources: SettingSources
    ) throws(ConfigurationError) {
        for setting in settings {
            if let found = sources.find(setting) { try setting.read(found, &self) }
        }
    }

    /// Returns variables that look like settings and are none: mostly typing errors.
    package static func unknownVariables(
        among names: some Sequence<String>,
        where looksLikeOurs: (String) -> Bool
    ) -> [String] {
        let known = Set(table.compactMap(\.variable))
        return names.filter { !known.contains($0) && looksLikeOurs($0) }.sorted()
    }

    /// Returns the settings after a reload: those that may change while the program runs are
    /// replaced.
    package func reloaded(from new: Self) -> Self {
        var reloaded = self
        for setting in Self.table where setting.isReloaded { setting.copy(new, &reloaded) }
        return reloaded
    }

    /// Returns true if a changed setting needs a restart.
    package func needsRestart(for new: Self) -> Bool {
        Self.table.contains { !$0.isReloaded && !$0.isSame(self, new) }
    }

    /// The whole configuration, for a report.
    package var lines: [(key: String, value: String)] {
        Self.table.map { ($0.key, $0.text(self)) }
    }
}
