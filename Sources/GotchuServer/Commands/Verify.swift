internal import ArgumentParser

/// `gotchu-server verify`.
struct Verify: AsyncParsableCommand {
    @OptionGroup var database: DatabaseOption

    func run() async throws {}
}
