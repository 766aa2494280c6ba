import FoundationEssentials
import Glibc
import LocalAPI

/// The folder, the programs and the simulated radio of one demo.
struct DemoEnvironment: Sendable {
    /// The role of a daemon.
    struct Role: Sendable {
        let name: String
        /// The position in metres in the simulated radio.
        let start: String

        static let kiosk = Role(name: "kiosk", start: "0,0")
        static let payer = Role(name: "payer", start: "5,0")

        var email: String { "\(name)@demo.example" }
    }

    /// The opening balance of each wallet, in cents.
    static let openingBalance: Int64 = 10_000

    /// The pages, if they are shown.
    let screens: DemoScreens?
    private let folder: String
    private let daemon: String
    private let server: String
    /// The path of gotchu-ctl: in a clone it is not in the shell's search path.
    let control: String

    init(folder: String, programs: String, screens: DemoScreens?) throws {
        self.folder = folder
        self.screens = screens
        control = "\(programs)/gotchu-ctl"
        daemon = try Self.program("gotchud", in: programs)
        server = try Self.program("gotchu-server", in: programs)
        try FileManager.default.createDirectory(
            atPath: "\(folder)/air",
            withIntermediateDirectories: false
        )
        if let screens {
            try Data(screens.configuration.utf8).write(to: URL(filePath: kioskConfiguration))
        }
    }

    private var kioskConfiguration: String { "\(folder)/kiosk.json" }

    private static func program(_ name: String, in folder: String) throws -> String {
        guard let path = ProgramFinder.find(name, in: folder) else {
            throw CommandFailure.inputOutput(
                "\(name) is not beside gotchu-ctl in \(folder).",
                next: "swift build --product \(name)"
            )
        }
        return path
    }

    func serverChild() -> DemoChild {
        DemoChild(
            name: "gotchu-server",
            path: server,
            arguments: [
                "serve", "--listen", "127.0.0.1:\(screens?.server ?? 0)", "--database", database,
                "--dev", "--dev-opening-balance", "\(Self.openingBalance)",
            ] + (screens.map { ["--web", "--public-url", "http://127.0.0.1:\($0.server)"] } ?? [])
        )
    }

    func daemonChild(_ role: Role, server: String) -> DemoChild {
        DemoChild(
            name: "gotchud (\(role.name))",
            path: daemon,
            arguments: [
                "--socket", socket(of: role), "--state", "\(folder)/\(role.name)",
                "--server", server, "--radio", "simulated:\(folder)/air@\(role.start)",
                "--cashier-uid", "\(getuid())", "--spender-uid", "\(getuid())",
            ]
                + (screens != nil && role.name == Role.kiosk.name
                    ? ["--config", kioskConfiguration] : [])
        )
    }

    func client(of role: Role) -> LocalClient {
        LocalClient(socketPath: socket(of: role))
    }

    /// Moves a daemon's radio to `distance` metres from the kiosk. Does nothing if the daemon has
    /// not started.
    func move(_ child: DemoChild, to distance: Double) throws {
        guard let processID = child.processID else { return }
        let path = "\(folder)/air/\(processID).position"
        try Data("\(distance),0\n".utf8).write(to: URL(filePath: path), options: .atomic)
    }

    var verification: (path: String, arguments: [String]) {
        (server, ["verify", "--database", database])
    }

    private var database: String { "sqlite:\(folder)/books.db" }

    func socket(of role: Role) -> String { "\(folder)/\(role.name).sock" }
}
