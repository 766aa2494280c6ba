internal import ArgumentParser

/// The option that all commands share.
struct DatabaseOption: ParsableArguments {
    @Option(
        help: "Where the books are kept: sqlite:PATH.",
        transform: { text in
            guard let location = DatabaseLocation(text) else {
                throw ValidationError("a database is written as sqlite:PATH")
            }
            return location
        }
    )
    var database: DatabaseLocation
}
