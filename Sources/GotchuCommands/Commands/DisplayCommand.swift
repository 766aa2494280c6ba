import ArgumentParser
import GotchuAPI
import GotchuCore
import LocalAPI
import Synchronization

/// `gotchu-ctl display`: shows the customer's display on a console.
struct DisplayCommand: SocketCommand {
    static let configuration = CommandConfiguration(
        commandName: "display",
        abstract: "Show the customer's display on this terminal.",
        discussion: """
            EXAMPLES:
              gotchu-ctl display
              gotchu-ctl display --json | jq -r .state
              gotchu-ctl display --json-lines

            What a browser shows at the address of "screens.display" in gotchud.json, in the \
            same words. Goes on when the daemon restarts, until Ctrl-C. With --json: the display \
            as it is now, once.
            """
    )

    /// The interval between two frames.
    private static let frameInterval = Duration.milliseconds(200)

    @OptionGroup var options: CommonOptions

    @Flag(help: "Print one JSON object on a line whenever the display changes.")
    var jsonLines = false

    func validate() throws {
        guard !(options.json && jsonLines) else {
            throw ValidationError("--json is one object and --json-lines is a stream: choose one.")
        }
    }

    func run(_ client: LocalClient, _ output: Output) async throws {
        if options.json { return try output.json(try await client.display()) }
        _ = try await race { try await follow(client, output) }
    }

    /// The newest state, and the time at which it was received.
    private final class Newest: Sendable {
        let state = Mutex<(reply: DisplayReply, at: MonotonicTime)?>(nil)
    }

    private func follow(_ client: LocalClient, _ output: Output) async throws {
        let newest = Newest()
        try await output.live(every: Self.frameInterval, isKept: true, isDrawn: !jsonLines) {
            guard let (reply, at) = newest.state.withLock(\.self) else { return nil }
            return DisplayDrawing(reply, age: .now - at).frame(on: output.data)
        } during: {
            try await receive(client, newest, output)
        }
    }

    /// Receives each state. Reconnects when the daemon restarts.
    private func receive(
        _ client: LocalClient,
        _ newest: Newest,
        _ output: Output
    ) async throws {
        var last: DisplayReply?
        var isAbsent = false
        while true {
            do {
                try await client.withDisplay { states in
                    while let reply = try await states.next() {
                        if isAbsent { output.message(EventFollower.backText) }
                        isAbsent = false
                        newest.state.withLock { $0 = (reply, .now) }
                        if jsonLines || !output.isLive { try write(reply, after: last, output) }
                        last = reply
                    }
                }
            } catch let failure as LocalClientFailure
                where (failure.isDaemonUnavailable || failure.isPermissionDenied) && last != nil
            {
                // The old state is drawn no more: it may invite somebody to pay.
                newest.state.withLock { $0 = nil }
                if !isAbsent { output.message(EventFollower.goneText) }
                isAbsent = true
                // No event reports gotchud's socket after a restart: poll. Ctrl-C cancels this.
                try await Task.sleep(for: EventFollower.retryInterval)
            }
        }
    }

    /// Writes a state if it differs from the last one in more than the remaining time.
    private func write(
        _ reply: DisplayReply,
        after last: DisplayReply?,
        _ output: Output
    ) throws {
        var (new, old) = (reply, last)
        new.left?.milliseconds = 0
        old?.left?.milliseconds = 0
        guard new != old else { return }
        if jsonLines {
            try output.jsonLine(reply)
        } else {
            output.line(DisplayDrawing(reply).summary)
        }
    }
}
