internal import ArgumentParser
internal import ServiceProcess

/// The option that all commands share.
struct DatabaseOption: ParsableArguments {
    /// As it was written. Never part of a message: a URL may hold a password.
    @Option(
        name: .customLong("database"),
        help: ArgumentHelp(
            "Where the books are kept: sqlite:PATH or postgres://USER@HOST/NAME.",
            valueName: "database"
        )
    )
    var text: String?

    /// What the command line or GOTCHU_SERVER_DATABASE says.
    var database: DatabaseLocation {
        get throws {
            if let text {
                if let location = DatabaseLocation(text) { return location }
                throw ServerFailure(
                    .usage,
                    "A database is written as sqlite:PATH or postgres://USER@HOST/NAME."
                )
            }
            let form = "written as sqlite:PATH or postgres://USER@HOST/NAME"
            guard let location = try Variable.database.value(form, { DatabaseLocation($0) })
            else {
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
