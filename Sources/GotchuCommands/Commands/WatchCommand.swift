import ArgumentParser
import Glibc
import GotchuAPI
import GotchuCore
import LocalAPI
import ServiceProcess
import Synchronization

/// `gotchu-ctl watch`: prints every event as it happens.
struct WatchCommand: SocketCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Show every event as it happens.",
        discussion: """
            EXAMPLES:
              gotchu-ctl watch
              gotchu-ctl watch --json-lines | grep '"event":"payment"'
              gotchu-ctl watch --run ./print-receipt

            --> was heard on the air, <-- is a request, a payment or a refund, --- is the daemon \
            itself. Goes on when the daemon restarts, until Ctrl-C. With --json: everything as it \
            is now, once.

            With --run a program of yours is run once for each request of this device that becomes \
            paid, and for each refund that is done, from now on: one after the other, each for 60 \
            seconds at most, with the event as a JSON object on its standard input and with \
            GOTCHU_EVENT=paid or GOTCHU_EVENT=refunded.
            """
    )

    @OptionGroup var options: CommonOptions

    @Flag(help: "Print one JSON object on a line for each event.")
    var jsonLines = false

    @Option(
        name: .customLong("run"),
        help: .value(
            "program",
            "Run this program for each request that is paid and each refund that is done."
        ),
        completion: .file()
    )
    var program: String?

    func validate() throws {
        guard program == nil || !(options.json || jsonLines) else {
            throw ValidationError("--run shows nothing in JSON: its program is given that.")
        }
        guard !(options.json && jsonLines) else {
            throw ValidationError("--json is one object and --json-lines is a stream: choose one.")
        }
    }

    func run(_ client: LocalClient, _ output: Output) async throws {
        if let program { return try await run(Hook(program: program), client, output) }
        let follower = EventFollower(
            client: client,
            output: output,
            needsPresences: true,
            reconnectsAfterLag: false
        )
        _ = try await race {
            try await follower.follow { event -> Bool? in
                if options.json {
                    guard case .snapshot(let snapshot) = event else { return nil }
                    try output.json(snapshot)
                    return true
                }
                if jsonLines {
                    try output.jsonLine(event)
                } else {
                    event.lines(at: .now, on: output.data).forEach { output.line($0) }
                }
                return nil
            }
        }
    }

    /// Runs the hook for settlements from now on. While it runs, no events are read. Settlements
    /// missed then, or while disconnected, are in the next snapshot.
    private func run(_ hook: Hook, _ client: LocalClient, _ output: Output) async throws {
        guard access(hook.program, X_OK) == 0 else {
            throw CommandFailure.inputOutput(
                "\(hook.program.printable) cannot be run: \(String(cString: strerror(errno))).",
                next: "ls -l \(hook.program.shellQuoted)"
            )
        }
        let settlements = Mutex(Settlements())
        let follower = EventFollower(client: client, output: output, toleratesAbsence: true)
        _ = try await race {
            try await follower.follow { event -> Bool? in
                if case .snapshot(let snapshot) = event {
                    // Throws if the user may see neither requests nor payments: no event would ever
                    // reach the hook.
                    _ = try await client.visibleRecords()
                    let status = Event.statusChanged(snapshot.status)
                    status.lines(at: .now, on: output.data).forEach { output.line($0) }
                }
                for settlement in settlements.withLock({ $0.apply(event) }) {
                    settlement.event.lines(at: .now, on: output.data).forEach { output.line($0) }
                    if let failure = try await hook.run(settlement) { output.message(failure) }
                }
                return nil
            }
        }
    }
}
