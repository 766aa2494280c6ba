import GotchuAPI
import GotchuCore
import LocalAPI

/// A payer walks up to a kiosk and pays. Every step is checked; the first failure ends the script.
struct DemoScript: Sendable {
    /// The interval at which a starting daemon is polled.
    private static let pollInterval = Duration.milliseconds(50)

    let amount: Money
    let environment: DemoEnvironment
    let output: DemoOutput
    let kiosk: LocalClient
    let payer: LocalClient

    init(amount: String, environment: DemoEnvironment, output: DemoOutput) throws {
        self.amount = try Money(
            typed: amount,
            allowed: 1...DemoEnvironment.openingBalance,
            next: "gotchu-ctl demo --amount 12.50"
        )
        self.environment = environment
        self.output = output
        kiosk = environment.client(of: .kiosk)
        payer = environment.client(of: .payer)
    }

    /// Runs the script. The child processes end with it, even after an error.
    func play() async throws {
        let server = environment.serverChild()
        try await during([server]) {
            let address = try await open(server)
            let till = environment.daemonChild(.kiosk, server: address)
            let wallet = environment.daemonChild(.payer, server: address)
            try await during([till, wallet]) {
                try await setUp()
                if let screens = environment.screens { try await show(screens) }
                let request = try await ask()
                try await approach(request, wallet)
                try await pay(request)
                try await settle(request)
                if environment.screens != nil { try await stay(wallet) }
            }
        }
    }

    /// Runs child processes while `body` runs. If a child exits earlier, that is a failure.
    private func during(
        _ children: [DemoChild],
        _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        do {
            try await withThrowingTaskGroup { group in
                for child in children {
                    group.addTask { try await child.run() }
                }
                group.addTask { try await body() }
                defer { group.cancelAll() }
                try await group.next()
            }
        } catch let cancellation as CancellationError {
            throw cancellation
        } catch {
            output.printLastOutput(of: children)
            throw error
        }
    }

    private func open(_ server: DemoChild) async throws -> String {
        try await output.step {
            let prefix = "listening on "
            for await line in server.lines where line.hasPrefix(prefix) {
                let address = String(line.dropFirst(prefix.count))
                return (address, "A payment server with empty books listens on \(address)")
            }
            throw DemoScript.failure("The payment server ended before it was ready.")
        }
    }

    private func setUp() async throws {
        try await output.step {
            for client in [kiosk, payer] { try await Self.waitUntilAnswering(client) }
            return ((), "A kiosk and a payer, 5 m apart on a simulated air, are up")
        }
        try await output.step {
            for (client, role) in [(kiosk, DemoEnvironment.Role.kiosk), (payer, .payer)] {
                _ = try await client.login(LocalLogin(devEmail: role.email))
            }
            let opening = Money(minorUnits: DemoEnvironment.openingBalance)
            return ((), "Both are logged in, with \(opening) in each wallet")
        }
    }

    private static func waitUntilAnswering(_ client: LocalClient) async throws {
        while true {
            do {
                _ = try await client.status()
                return
            } catch let failure as LocalClientFailure where failure.isDaemonUnavailable {
                // No event reports the socket of a starting daemon: poll. `during` cancels this if
                // the daemon exits.
                try await Task.sleep(for: pollInterval)
            }
        }
    }

    static func failure(_ sentence: String) -> CommandFailure {
        .negative(sentence, next: "gotchu-ctl demo --json")
    }
}
