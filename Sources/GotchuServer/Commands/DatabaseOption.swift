internal import ArgumentParser

/// The database option, which all commands share.
struct DatabaseOption: ParsableArguments {
    /// The option's value. It is never part of a message: a URL may contain a password.
    @Option(
        name: .customLong("database"),
        help: .value("database", "The database: sqlite:PATH or postgres://USER@HOST/NAME.")
    )
    var text: String?

    /// The database from the command line, or else from GOTCHU_SERVER_DATABASE.
    var database: DatabaseLocation {
        get throws {
            let settings = try ServerSettings([.database], flags: ["database": text])
            return try settings.namedDatabase
        }
    }
}

extension ArgumentHelp {
    /// Returns an option's help with the name of its value.
    static func value(_ name: String, _ text: String) -> ArgumentHelp {
        ArgumentHelp(text, valueName: name)
    }
}
