internal import ArgumentParser

/// The option that all commands share.
struct DatabaseOption: ParsableArguments {
    @Option(
        name: .customLong("database"),
        help: ArgumentHelp("Where the books are kept: sqlite:PATH.", valueName: "database"),
        transform: { text in
            guard let location = DatabaseLocation(text) else {
                throw ValidationError("a database is written as sqlite:PATH")
            }
            return location
        }
    )
    var named: DatabaseLocation?

    /// What the command line or GOTCHU_SERVER_DATABASE says.
    var database: DatabaseLocation {
        get throws {
            let location =
                try named
                ?? Variable.value("DATABASE", "written as sqlite:PATH") { DatabaseLocation($0) }
            guard let location else {
                throw ServerFailure(
                    .usage,
                    "No database is named.",
                    fix: "Name one with --database sqlite:PATH or GOTCHU_SERVER_DATABASE."
                )
            }
            return location
        }
    }
}
