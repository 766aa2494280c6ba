import ArgumentParser
import FoundationEssentials
import Glibc
import LocalAPI
import ServiceProcess

/// `gotchu-ctl demo`: shows a payment from end to end on this machine.
struct DemoCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Play a payment from end to end on this machine.",
        discussion: """
            EXAMPLES:
              gotchu-ctl demo
              gotchu-ctl demo --amount 12.50 --json
              gotchu-ctl demo --screens

            Starts a payment server, a kiosk and a payer of its own in a temporary folder, on a \
            simulated air: no Bluetooth, no network and no configuration is touched, and nothing \
            is left behind.
            """
    )

    @OptionGroup var options: CommonOptions

    @Option(help: .value("amount", "The kiosk's amount, up to 100.00."))
    var amount = "50.00"

    @Flag(help: "Show the display, the till and the earnings in a browser, until Ctrl-C.")
    var screens = false

    var socketPath: String { SocketPath.system }

    func validate() throws {
        guard options.socket == nil else {
            throw ValidationError("The demo has daemons of its own: leave --socket out.")
        }
        guard !(screens && options.json) else {
            throw ValidationError("The screens are for a person: leave --json or --screens out.")
        }
    }

    func run() async throws {
        let output = Output(isJSON: options.json)
        let steps = DemoOutput(output: output)
        let folder = try Self.makeFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let environment = try DemoEnvironment(
            folder: folder,
            programs: ProgramFinder.ownFolder(),
            screens: screens ? DemoScreens() : nil
        )
        let script = try DemoScript(amount: amount, environment: environment, output: steps)
        let outcome = try await race {
            try await script.play()
            try steps.finish()
        }
        switch outcome {
        case .finished: return
        case .timedOut, .interrupted:
            output.message("Stopped; nothing is left behind.")
            throw ExitCode(ExitStatus.interrupted.rawValue)
        }
    }

    /// Creates a folder that only this user can access. Its path is short, because paths of sockets
    /// have a limit.
    private static func makeFolder() throws -> String {
        var template = Array(("/tmp/gotchu-demo-" + String(repeating: "X", count: 6)).utf8) + [0]
        let isMade = template.withUnsafeMutableBytes { bytes in
            bytes.assumingMemoryBound(to: CChar.self).baseAddress.flatMap { mkdtemp($0) } != nil
        }
        let code = errno
        guard isMade else {
            throw CommandFailure.inputOutput(
                "No folder can be made in /tmp: \(String(cString: strerror(code))).",
                next: "ls -ld /tmp"
            )
        }
        return String(decoding: template.dropLast(), as: UTF8.self)
    }
}
