internal import ArgumentParser

/// `gotchu-server backup`.
struct Backup: AsyncParsableCommand {
    @OptionGroup var database: DatabaseOption

    func run() async throws {}
}
