import ArgumentParser
import GotchuAPI
import GotchuCore
import LocalAPI

/// `gotchu-ctl cancel`: take a request back that another command left on the air.
struct CancelCommand: SocketCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "Take a request back.",
        discussion: """
            EXAMPLES:
              gotchu-ctl cancel 0198f3c1-7a5e-7c1e-9d53-0242ac120002
              gotchu-ctl history

            Does nothing for one that is taken back already. Exits with 1 if it was paid before.
            """
    )

    @OptionGroup var options: CommonOptions

    @Argument(help: "The request's id, as 'request --no-wait' and 'history' print it.")
    var id: String

    func run(_ client: LocalClient, _ output: Output) async throws {
        guard let id = SessionID(rawValue: id) else {
            throw CommandFailure.badData(
                "'\(id.printable)' is not a request's id.",
                next: "gotchu-ctl history"
            )
        }
        let request = try await client.cancelRequest(id)
        switch request.state {
        case .cancelled, .expired:
            guard !output.isJSON else { return try output.json(request) }
            output.line("Taken back · nobody was charged")
        case .paid:
            let failure = CommandFailure.negative(
                "It was paid before it could be taken back.",
                next: "gotchu-ctl history"
            )
            throw CommandFailure.about(request, failure)
        case .advertising, .locked, .unknown:
            let failure = CommandFailure.tryAgain(
                "It is not taken back: \(request.reason.printable)",
                next: "gotchu-ctl cancel \(id)"
            )
            throw CommandFailure.about(request, failure)
        }
    }
}
