import ArgumentParser
import GotchuAPI
import GotchuCore
import LocalAPI
import ServiceProcess

/// `gotchu-ctl status`: shows the daemon's state in one sentence, and the fixes for its problems.
struct StatusCommand: SocketCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show if payments can be requested and made.",
        discussion: """
            EXAMPLES:
              gotchu-ctl status
              gotchu-ctl status --json

            Exits with 0 only if the daemon is ready.
            """
    )

    @OptionGroup var options: CommonOptions

    func run(_ client: LocalClient, _ output: Output) async throws {
        let status = try await client.status()
        if output.isJSON {
            try output.json(status)
        } else {
            render(status, to: output)
        }
        guard status.isReady else { throw ExitCode(ExitStatus.negative.rawValue) }
    }

    private func render(_ status: StatusReply, to output: Output) {
        let terminal = output.data
        output.line(
            terminal.paint(status.summary.printable, status.isReady ? .green : .red)
        )
        output.line()
        for (name, text) in rows(of: status) {
            output.line(terminal.paint(name, .dim) + text)
        }
        for item in status.health {
            output.line()
            let mark =
                switch item.severity {
                case .error: terminal.paint("✗", .red)
                case .warning: terminal.paint("!", .yellow)
                }
            output.line("\(mark) \(item.text.printable)")
            let fix = invocation.onSameSocket(item.fix.printable)
            output.line("  → " + terminal.paint(fix, .bold))
        }
    }

    private func rows(of status: StatusReply) -> [(String, String)] {
        let radio = status.radio
        let adapter =
            [
                radio.adapter, radio.address,
                radio.kind == "bluez" ? radio.bluezVersion.map { "BlueZ \($0)" } : radio.kind,
                radio.listeningText,
                radio.transport == "management" ? "management socket" : radio.transportNote,
                radio.calibration.map {
                    "calibrated (tap \($0.tapEnter), near \($0.nearEnter) dBm)"
                },
                radio.advertising.isEmpty
                    ? nil
                    : "advertising " + radio.advertising.map(\.description).joined(separator: " "),
            ]
        let server = status.server
        let reachable =
            switch server.isReachable {
            case nil: "not asked yet"
            case true?:
                server.latencyMilliseconds.map { "reachable (\($0) ms)" } ?? "reachable"
            case false?: "not working"
            }
        return [
            ("adapter  ", adapter.compactMap { $0?.printable }.joined(separator: " · ")),
            (
                "server   ",
                [
                    server.url.printable, reachable,
                    server.isLoggedIn ? "logged in" : "not logged in",
                ].joined(separator: " · ")
            ),
            ("gotchud  ", "version \(status.version.printable)"),
        ]
    }
}

extension RadioStatus {
    /// A text that says if the radio listens. If it does not, the text has the reason.
    var listeningText: String {
        if isScanning { return "listening" }
        return switch (listening.isWanted, listening.setting) {
        case (true, _), (false, .always): "not listening"
        case (false, .auto): "not listening, as no program asks what is near"
        case (false, .never): "not listening, as 'listen' is 'never'"
        }
    }
}
