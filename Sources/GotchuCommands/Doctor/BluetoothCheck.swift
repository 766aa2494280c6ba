import BlueZ
import DBus
import Logging

/// Checks the kernel, the bus, bluetoothd and its adapters without the daemon, because the daemon
/// may have the fault.
struct BluetoothCheck {
    /// The daemon's kind of radio, if it answers.
    let radioKind: String?

    func run() async -> [Finding] {
        guard radioKind != "simulated" else {
            return [Finding.skipped("bluetooth", "not needed: gotchud's radio is simulated")]
        }
        let kernel = KernelCheck.run()
        return kernel.findings + kernel.switches.map(\.finding) + (await service(kernel))
    }

    /// Checks the layers above the kernel.
    private func service(_ kernel: KernelCheck) async -> [Finding] {
        let quiet = Logger(label: "doctor") { _ in SwiftLogNoOpLogHandler() }
        let connection: Connection
        do throws(DBusError) {
            connection = try await Connection.open(logger: quiet)
        } catch {
            return [
                Finding.bad("bus", error.sentence, fix: "sudo systemctl start dbus"),
                Finding.skipped("bluetooth", "cannot be said without the bus"),
            ]
        }
        var findings = [Finding.good("bus", "the system bus answers")]
        do throws(DBusError) {
            let found = try await look(at: connection, kernel)
            findings += [PolicyCheck.current.finding(nil)] + found
        } catch {
            findings += Self.findings(for: error, policy: .current)
        }
        await connection.close()
        return findings
    }

    /// Returns the findings if bluetoothd's objects could not be read.
    static func findings(for error: DBusError, policy: PolicyCheck) -> [Finding] {
        let bluetoothd =
            PolicyCheck.isDenial(error)
            ? Finding.skipped("bluetoothd", "cannot be said while the bus keeps us from it")
            : Finding.bad("bluetoothd", error.sentence, fix: "sudo systemctl restart bluetooth")
        return [policy.finding(error), bluetoothd]
    }

    private func look(
        at connection: Connection,
        _ kernel: KernelCheck
    ) async throws(DBusError) -> [Finding] {
        guard try await connection.owner(of: BlueZ.busName) != nil else {
            return [
                Finding.bad(
                    "bluetoothd",
                    "bluetoothd is not running.",
                    fix: "sudo systemctl start bluetooth"
                )
            ]
        }
        let call = MethodCall(
            to: BlueZ.busName,
            path: .root,
            interface: "org.freedesktop.DBus.ObjectManager",
            member: "GetManagedObjects"
        )
        let objects = try await connection.call(call, timeout: BlueZPeer.defaultTimeout)
        let adapters = BluetoothAdapters(objects).adapters
        let running = Finding.good("bluetoothd", "running")
        guard !adapters.isEmpty else {
            let none =
                kernel.hasNone
                ? Finding.skipped("adapter", "bluetoothd has none, as the kernel has none")
                : Finding.bad(
                    "adapter",
                    "bluetoothd has none of the kernel's adapters.",
                    fix: "sudo systemctl restart bluetooth"
                )
            return [running, none]
        }
        return [running] + adapters.flatMap { $0.findings(main: .current) }
    }
}
