import ArgumentParser
import Glibc
import GotchuAPI
import LocalAPI
import ServiceProcess

/// `gotchu-ctl wait`: waits for a condition, for scripts.
struct WaitCommand: SocketCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait",
        abstract: "Wait until a condition is true.",
        discussion: """
            EXAMPLES:
              gotchu-ctl wait --for ready --timeout 60
              gotchu-ctl wait --for tap && gotchu-ctl pay

            Exits with 0 when it is so, with 1 when it can not become so any more, and with 75 \
            when it is not so in time, or 74 if the radio does not listen. The daemon may still be \
            starting.
            """
    )

    /// The output of `--json`.
    struct Answer: Encodable {
        let condition: String
        let holds: Bool

        private enum CodingKeys: String, CodingKey {
            case condition = "for"
            case holds
        }
    }

    @OptionGroup var options: CommonOptions

    @Option(
        name: .customLong("for"),
        help: .value("condition", "ready, near, tap, or paid:ID."),
        completion: .list(["ready", "near", "tap", "paid:"])
    )
    var condition: WaitCondition

    @Option(help: .value("seconds", "Give up after this time."))
    var timeout = Seconds(30)

    func run(_ client: LocalClient, _ output: Output) async throws {
        let watch = SharedPresenceList()
        let follower = EventFollower(
            client: client,
            output: output,
            toleratesAbsence: true,
            needsPresences: condition.needsPresences
        )
        let outcome = try await race(limit: timeout.duration) {
            try await follower.follow { event -> WaitCondition.Evaluation? in
                _ = watch.apply(event)
                let truth = condition.evaluate(event, list: watch.list)
                return truth == .pending ? nil : truth
            }
        }
        switch outcome {
        case .finished(.holds):
            if output.isJSON {
                try output.json(Answer(condition: "\(condition)", holds: true))
            }
        case .finished(.impossible(let why)):
            throw CommandFailure.negative(why, next: "gotchu-ctl history")
        case .finished(.notFound): throw try await missing(client)
        case .finished(.pending), .timedOut:
            let failure = CommandFailure.tryAgain(
                condition.failure(within: timeout.duration.wholeSecondsText),
                next: next
            )
            switch condition {
            case .near, .tap: throw await client.receptionFailure(orElse: failure)
            case .ready, .paid: throw failure
            }
        case .interrupted: throw ExitCode(ExitStatus.interrupted.rawValue)
        }
    }

    /// Returns the failure for an id that was not found. Throws the refusal if this user may see
    /// neither requests nor payments.
    private func missing(_ client: LocalClient) async throws -> CommandFailure {
        let what =
            switch try await client.visibleRecords() {
            case (nil, _): "payment with that id, and shows this user no requests"
            case (_, nil): "request with that id, and shows this user no payments"
            case (_?, _?): "request and no payment with that id"
            }
        return .negative("gotchud knows no \(what).", next: "gotchu-ctl history")
    }

    private var next: String {
        switch condition {
        case .ready: "gotchu-ctl doctor"
        case .near, .tap: "gotchu-ctl scan --explain"
        case .paid: "gotchu-ctl history"
        }
    }
}
