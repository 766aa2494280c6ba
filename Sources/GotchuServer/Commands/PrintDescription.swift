internal import ArgumentParser
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
        // The document ends with a line break, and the console adds one.
        Console.output(String(OpenAPI.document.dropLast()))
    }
}
