internal import ArgumentParser
internal import NIOCore
internal import ServiceProcess

/// `gotchu-server openapi`.
struct PrintDescription: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "openapi",
        abstract: "Prints the contract, as /openapi.yaml serves it.",
        discussion: """
            Example:
              gotchu-server openapi > openapi.yaml
            """
    )

    func run() async throws {
        // The console adds a line break, so the one at the document's end is removed.
        Console.output(String(String(buffer: OpenAPI.document).dropLast()))
    }
}
