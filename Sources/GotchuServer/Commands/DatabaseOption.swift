internal import ArgumentParser

/// The option that all commands share.
struct DatabaseOption: ParsableArguments {
    /// The text that was given. Never part of a message: a URL may hold a password.
    @Option(
        name: .customLong("database"),
        help: ArgumentHelp(
            "The database: sqlite:PATH or postgres://USER@HOST/NAME.",
            valueName: "database"
        )
    )
    var text: String?

    /// The database that the command line or GOTCHU_SERVER_DATABASE names.
    var database: DatabaseLocation {
        get throws {
            let settings = try ServerSettings([.database], flags: ["database": text])
            return try settings.namedDatabase
        }
    }
}
