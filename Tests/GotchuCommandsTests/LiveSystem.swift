import Foundation
import Synchronization
import TestSupport

/// A real payment server and the real daemons of a kiosk and a payer, with simulated radios.
final class LiveSystem: Sendable {
    let kiosk: String
    let payer: String
    private let folder: TemporaryFolder
    private let server: Program
    private let proxy: SlowProxy
    private let till: Mutex<Program>
    private let startTill: @Sendable () throws -> Program
    private let wallet: Program
    private let startOther: @Sendable (_ metres: Double) throws -> Program
    private let others = Mutex<[Program]>([])

    /// - Parameters:
    ///   - distance: The distance between kiosk and payer, in metres.
    ///   - isLoggedIn: True to log both daemons in.
    ///   - eidSeconds: The lifetime of an EID, in seconds; `nil` for the default.
    ///   - delay: The delay of the server's answers to the payer.
    init(
        distance: Double = 0.05,
        isLoggedIn: Bool = true,
        eidSeconds: Int? = nil,
        delay: Duration = .zero
    ) async throws {
        folder = try TemporaryFolder()
        let path = folder.path
        kiosk = "\(path)/kiosk.sock"
        payer = "\(path)/payer.sock"
        try FileManager.default.createDirectory(
            atPath: "\(path)/air",
            withIntermediateDirectories: false
        )
        server = try Program(
            "gotchu-server",
            [
                "serve", "--listen", "127.0.0.1:0", "--database", "sqlite:\(path)/books.db",
                "--dev",
                "--dev-opening-balance", "10000",
            ]
        )
        let listening = server
        let address = try await eventually("the server listens") {
            listening.text.split(separator: "\n").first { $0.hasPrefix("listening on ") }?
                .dropFirst("listening on ".count)
        }
        let port = address.split(separator: ":").last.flatMap { UInt16($0) } ?? 0
        proxy = try SlowProxy(before: port, delay: delay)
        let slowAddress = "http://127.0.0.1:\(proxy.port)"
        @Sendable func daemon(_ name: String, _ x: Double) throws -> Program {
            var environment = ["GOTCHU_OBSERVER_UIDS": "65534"]
            environment["GOTCHU_EID_SECONDS"] = eidSeconds.map(String.init)
            return try Program(
                "gotchud",
                [
                    "--socket", "\(path)/\(name).sock", "--state", "\(path)/\(name)", "--server",
                    name == "payer" && delay > .zero ? slowAddress : String(address), "--radio",
                    "simulated:\(path)/air@\(x),0",
                ],
                environment: environment
            )
        }
        startOther = { try daemon("other", $0) }
        startTill = { try daemon("kiosk", 0) }
        till = try Mutex(startTill())
        wallet = try daemon("payer", distance)
        for (socket, name) in [(kiosk, "shop"), (payer, "ann")] {
            try await Self.answers(socket)
            guard isLoggedIn else { continue }
            let arguments = ["login", "--dev-email", "\(name)@example.com"]
            _ = try await GotchuCtl.run(arguments, socket: socket)
        }
    }

    deinit { proxy.stop() }

    /// Starts a till of another shop with the same name.
    ///
    /// - Returns: The path of its socket.
    func addTill(at distance: Double) async throws -> String {
        let other = try startOther(distance)
        others.withLock { $0.append(other) }
        let socket = "\(folder.path)/other.sock"
        try await Self.answers(socket)
        let arguments = ["login", "--dev-email", "shop@other.example"]
        _ = try await GotchuCtl.run(arguments, socket: socket)
        return socket
    }

    /// Blocks the server's writes until the returned program ends. Until then, the server does not
    /// answer locks and sends.
    func lockBooks() async throws -> Program {
        try await Program.locking("\(folder.path)/books.db")
    }

    /// Sends a signal to the payment server. SIGSTOP makes the server hang.
    func signalServer(_ signal: Int32) { server.signal(signal) }

    /// Moves the payer to a distance from the kiosk, in metres.
    func movePayer(to distance: Double) throws {
        _ = try folder.write("\(distance),0", to: "air/\(wallet.processID).position")
    }

    /// Sends a signal to the kiosk's daemon. SIGSTOP makes the daemon hang.
    func signalTill(_ signal: Int32) { till.withLock { $0.signal(signal) } }

    /// Waits until a daemon answers on its socket.
    private static func answers(_ socket: String) async throws {
        try await eventually("the daemon at \(socket) answers") {
            FileManager.default.fileExists(atPath: socket)
                ? try await GotchuCtl.run(["status"], socket: socket).code != 69 ? true : nil
                : nil
        }
    }

    /// Waits until the kiosk's daemon has ended, restarts it with the same state, and waits until
    /// it answers.
    func restartTill() async throws {
        let old = till.withLock(\.self)
        try await old.exitCode()
        let new = try startTill()
        till.withLock { $0 = new }
        try await Self.answers(kiosk)
    }

    /// Opens the folder of the sockets to every user. User 65534 (nobody) is an observer.
    func openTill() {
        chmod(folder.path, 0o755)
    }

    /// Closes the folder of the sockets to every user but its owner.
    func closeTill() {
        chmod(folder.path, 0o700)
    }

    /// The states of the kiosk's requests.
    func requestStates() async throws -> [String] {
        let snapshot = try await GotchuCtl.run(["watch", "--json"], socket: kiosk).json()
        let requests = snapshot["requests"] as? [[String: Any]] ?? []
        return requests.compactMap { $0["state"] as? String }
    }

    /// Puts a request on the air and returns its EID and id.
    func request(_ amount: String, _ more: [String] = []) async throws -> (eid: String, id: String)
    {
        let arguments = ["request", amount, "--no-wait", "--json"] + more
        let view = try await GotchuCtl.run(arguments, socket: kiosk).json()
        return (view["eid"] as? String ?? "", view["id"] as? String ?? "")
    }
}
