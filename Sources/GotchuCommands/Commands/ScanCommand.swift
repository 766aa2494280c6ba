import ArgumentParser
import GotchuAPI
import GotchuCore
import LocalAPI
import ServiceProcess

/// `gotchu-ctl scan`: lists the open requests nearby.
struct ScanCommand: SocketCommand {
    static let configuration = CommandConfiguration(
        commandName: "scan",
        abstract: "Show the requests nearby, and how near they are.",
        discussion: """
            EXAMPLES:
              gotchu-ctl scan
              gotchu-ctl scan --tap --timeout 10 --json-lines

            On a terminal a table is drawn in place until Ctrl-C; in a pipe each change is a line. \
            With --once or --timeout the exit code is 1 if nothing was heard, and 74 if the radio \
            does not listen.
            """
    )

    /// The shortest time between two redraws of the table.
    private static let frameInterval = Duration.milliseconds(100)

    @OptionGroup var options: CommonOptions

    @Flag(help: "Print one JSON object on a line for each change.")
    var jsonLines = false

    @Flag(help: "Show what is heard now, and exit.")
    var once = false

    @Option(help: .value("seconds", "End after this time."))
    var timeout: Seconds?

    @Flag(help: "Only what is within reach: the verdicts tap, near and ambiguous.")
    var near = false

    @Flag(help: "Only what is held against this device: the verdict tap.")
    var tap = false

    @Flag(help: "Show the numbers behind each verdict.")
    var explain = false

    func validate() throws {
        guard !(options.json && jsonLines) else {
            throw ValidationError("--json is one object and --json-lines is a stream: choose one.")
        }
    }

    private var wanted: Set<Verdict> {
        tap ? [.tap] : near ? [.tap, .near, .ambiguous] : Set(Verdict.allCases)
    }

    func run(_ client: LocalClient, _ output: Output) async throws {
        if once || (options.json && timeout == nil) {
            return try await runOnce(client, output)
        }
        let watch = SharedPresenceList(wanted: wanted)
        let outcome = try await race(limit: timeout?.duration) {
            try await follow(watch, client, output)
        }
        if case .timedOut = outcome, !watch.hasHeard {
            return try reportNothing(watch.list.receptionProblem, output)
        }
        if options.json {
            try output.json(PresencesReply(sessions: watch.list.sorted))
        }
    }

    /// Reports that no wanted presence was heard.
    private func reportNothing(_ receptionProblem: HealthItem?, _ output: Output) throws {
        let nothing = PresencesReply(sessions: [])
        if let receptionProblem {
            let failure = CommandFailure.inputOutput(
                receptionProblem.receptionText,
                next: receptionProblem.fix.printable
            )
            throw CommandFailure.about(nothing, failure)
        }
        if options.json { try output.json(nothing) }
        output.message(emptyText)
        throw ExitCode(ExitStatus.negative.rawValue)
    }

    private func runOnce(_ client: LocalClient, _ output: Output) async throws {
        if try await client.status().radio.startsListeningOnDemand {
            output.message("Listening for a moment …")
        }
        let sessions = try await client.sessions().filter { wanted.contains($0.verdict) }
        if sessions.isEmpty {
            return try reportNothing(try await client.status().receptionProblem, output)
        }
        if options.json {
            try output.json(PresencesReply(sessions: sessions))
        } else if jsonLines {
            for session in sessions { try output.jsonLine(Event.presenceChanged(session)) }
        } else {
            table(sessions, output).forEach { output.line($0) }
        }
    }

    /// Reads events until cancelled. Redraws the table on a terminal, otherwise prints each change.
    /// With `--json` prints no changes.
    private func follow(
        _ watch: SharedPresenceList,
        _ client: LocalClient,
        _ output: Output
    ) async throws {
        let isLive = output.isLive && !jsonLines
        if !isLive, !options.json { output.message("Listening …") }
        try await output.live(every: Self.frameInterval, isKept: true, isDrawn: !jsonLines) {
            frame(watch, output)
        } during: {
            let follower = EventFollower(client: client, output: output, needsPresences: true)
            _ = try await follower.follow { event -> Bool? in
                let before = watch.list.receptionProblem
                let changes = watch.apply(event)
                guard !isLive else { return nil }
                if let now = watch.list.receptionProblem, now.code != before?.code {
                    output.message(now.receptionText)
                }
                try report(changes, output)
                return nil
            }
        }
    }

    private func frame(_ watch: SharedPresenceList, _ output: Output) -> [String]? {
        guard watch.hasBegun else { return nil }
        let sessions = watch.list.sorted
        return sessions.isEmpty ? emptyLines(watch, output) : table(sessions, output)
    }

    private func report(_ changes: [PresenceList.Change], _ output: Output) throws {
        guard !options.json else { return }
        for change in changes {
            switch change {
            case .seen(let presence):
                if jsonLines {
                    try output.jsonLine(Event.presenceChanged(presence))
                } else {
                    output.line(PresenceRow.line(presence, now: .now))
                    if explain { output.line("  " + PresenceRow.explanation(presence)) }
                }
            case .lost(let eid):
                if jsonLines {
                    try output.jsonLine(Event.presenceLost(eid))
                } else {
                    output.line("\(Timestamp.now.clockText) \(eid) gone")
                }
            }
        }
    }

    private func table(_ sessions: [PresenceView], _ output: Output) -> [String] {
        let now = Timestamp.now
        var table = Table(columns: PresenceRow.columns)
        table.rows = sessions.map { PresenceRow.cells($0, now: now) }
        var lines = table.lines(on: output.data)
        guard explain else { return lines }
        let width = output.data.size?.columns ?? Int.max
        let explanations = sessions.map { session in
            output.data.paint(
                "  " + PresenceRow.explanation(session).truncated(to: width - 2),
                .dim
            )
        }
        let titles = lines.removeFirst()
        return [titles] + zip(lines, explanations).flatMap { [$0, $1] }
    }

    private func emptyLines(_ watch: SharedPresenceList, _ output: Output) -> [String] {
        let width = output.data.size?.columns ?? Int.max
        guard let receptionProblem = watch.list.receptionProblem else {
            return [output.data.paint(emptyText.truncated(to: width), .dim)]
        }
        return [
            output.data.paint(receptionProblem.receptionText.truncated(to: width), .red),
            "→ \(receptionProblem.fix.printable)".truncated(to: width),
        ]
    }

    private var emptyText: String {
        wanted.contains(.far)
            ? "Nothing is heard. A till with an open request shows up within seconds."
            : "Nothing is near enough. Hold this device against the till."
    }
}
