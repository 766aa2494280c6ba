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
        // Both the document and the console end the last line.
        Console.output(String(OpenAPI.document.dropLast()))
    }
}
