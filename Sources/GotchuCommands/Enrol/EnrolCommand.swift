import ArgumentParser
import GotchuAPI
import LocalAPI
import ServiceProcess
import Subprocess
import SystemPackage

/// `gotchu-ctl enrol`: enrols this device at a payment server.
struct EnrolCommand: SocketCommand {
    static let configuration = CommandConfiguration(
        commandName: "enrol",
        abstract: "Set the payment server, and log in there.",
        discussion: """
            EXAMPLES:
              sudo gotchu-ctl enrol https://pay.example
              sudo gotchu-ctl enrol https://pay.example --token-file code

            Checks that a payment server answers there, writes it into gotchud's configuration, \
            restarts gotchud, and logs in with the code that gotchu-server devices add has \
            printed. Before that nothing is changed.

            The code is read from standard input, without echo on a terminal, or from a file. It \
            is never an argument: those are visible to everybody on the machine.
            """
    )

    /// The time within which gotchud must answer with the new server.
    private static let restartLimit: Duration = .seconds(120)

    @OptionGroup var options: CommonOptions

    @Argument(help: "The payment server, such as https://pay.example.")
    var url: String

    @Argument(help: .hidden)
    var others: [String] = []

    @Option(help: .value("path", "Read the code from this file."), completion: .file())
    var tokenFile: String?

    @Option(
        help: .value(
            "path",
            "The file that gotchud reads, instead of $GOTCHU_CONFIG or "
                + "\(ConfigurationCheck.defaultFile)."
        ),
        completion: .file()
    )
    var config: String?

    func validate() throws {
        guard others.isEmpty else {
            throw ValidationError(
                "The code cannot be an argument: everybody on this machine can read those. Leave "
                    + "it out and type it when you are asked, or use --token-file."
            )
        }
    }

    private var file: String {
        config ?? Environment["GOTCHU_CONFIG"] ?? ConfigurationCheck.defaultFile
    }

    func run(_ client: LocalClient, _ output: Output) async throws {
        let document = try ConfigurationDocument(path: file)
        let server = try await probe(document.text(withServer: url))
        let (requests, payments) = (try await client.requests(), try await client.payments())
        guard requests.allSatisfy(\.state.isFinal), payments.allSatisfy(\.state.isFinal) else {
            throw CommandFailure.negative(
                "A request or a payment is still open, which another login could not finish: "
                    + "wait for its end, or cancel it.",
                next: "gotchu-ctl history"
            )
        }
        let code = try TokenSource(file: tokenFile).read(output)
        let before = try await client.status().server
        if before.url != server {
            // The token belongs to the old server. Without a token no new request or payment can
            // begin.
            if before.isLoggedIn { _ = try await client.logout() }
            try document.replace(with: document.text(withServer: server))
            try await restart(output)
            try await waitFor(server, client, output)
        } else {
            try document.replace(with: document.text(withServer: server))
        }
        let status = try await client.login(LocalLogin(token: code))
        guard !output.isJSON else { return try output.json(status) }
        output.line("Enrolled: logged in at \(status.server.url.printable)")
        output.message(status.summary.printable)
    }

    /// Probes the server with this configuration, as gotchud would.
    ///
    /// - Returns: The server's URL as gotchud spells it.
    private func probe(_ text: String) async throws -> String {
        let found = try await ServerProbe.run(
            ["--config", "/dev/stdin", "--server", url],
            input: .fileDescriptor(
                try .inMemory(Array(text.utf8)),
                closeAfterSpawningProcess: true
            )
        )
        guard let reply = found.reply else {
            throw CommandFailure.badData(
                found.errorText.replacing("gotchud: ", with: "", maxReplacements: 1)
                    .replacing("/dev/stdin", with: file).printable,
                next: "gotchud --check-config --config \(file.shellQuoted)"
            )
        }
        guard reply.isReachable else {
            throw CommandFailure.tryAgain(
                (reply.problem?.text ?? "\(reply.url) does not answer.").printable,
                next: (reply.problem?.fix ?? "gotchu-ctl doctor").printable
            )
        }
        return reply.url
    }

    /// Restarts the daemon if systemd runs it; otherwise asks the person to restart it.
    private func restart(_ output: Output) async throws {
        let isService = socketPath == SocketPath.system
        guard isService, try await systemctl("is-active", "--quiet", "gotchud") else {
            return output.message(
                "Restart gotchud now, with \(file.printable) as its configuration."
            )
        }
        guard try await systemctl("restart", "gotchud") else {
            throw CommandFailure.inputOutput(
                "systemd could not restart gotchud.",
                next: "journalctl -u gotchud -n 20"
            )
        }
    }

    /// - Returns: True if systemctl succeeded; false if it failed or is not installed.
    private func systemctl(_ arguments: String...) async throws -> Bool {
        let result = try? await Subprocess.run(
            .name("systemctl"),
            arguments: .init(arguments),
            output: .discarded,
            error: .discarded
        )
        try Task.checkCancellation()
        return result?.terminationStatus.isSuccess ?? false
    }

    private func waitFor(_ server: String, _ client: LocalClient, _ output: Output) async throws {
        let follower = EventFollower(
            client: client,
            output: output,
            toleratesAbsence: true,
            wasReached: true
        )
        let outcome = try await race(limit: Self.restartLimit) {
            try await follower.follow { event -> Bool? in
                guard case .snapshot(let snapshot) = event else { return nil }
                return snapshot.status.server.url == server ? true : nil
            }
        }
        switch outcome {
        case .finished: return
        case .interrupted: throw ExitCode(ExitStatus.interrupted.rawValue)
        case .timedOut:
            throw CommandFailure.tryAgain(
                "gotchud does not use \(server.printable) yet, which \(file.printable) names now.",
                next: "gotchu-ctl enrol \(server.shellQuoted)"
            )
        }
    }
}
