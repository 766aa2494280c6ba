import BlueZ
import DBus
import Logging

/// The kernel, the bus, bluetoothd and its adapters, asked directly: the daemon may be the one that
/// is broken.
struct BluetoothCheck {
    /// What radio the daemon uses, if it answers.
    let radioKind: String?
    /// And which adapter.
    let adapter: String?

    func run() async -> [Finding] {
        guard radioKind != "simulated" else {
            return [Finding("bluetooth", .skipped, "not needed: gotchud's radio is simulated")]
        }
        let kernel = KernelCheck.run()
        return kernel.findings + kernel.switches.map(\.finding) + (await service(kernel))
    }

    /// What stands on the kernel.
    private func service(_ kernel: KernelCheck) async -> [Finding] {
        let quiet = Logger(label: "doctor") { _ in SwiftLogNoOpLogHandler() }
        let connection: Connection
        do throws(DBusError) {
            connection = try await Connection.open(logger: quiet)
        } catch {
            return [
                Finding("bus", .bad, error.sentence, fix: "sudo systemctl start dbus"),
                Finding("bluetooth", .skipped, "cannot be said without the bus"),
            ]
        }
        var findings = [Finding("bus", .good, "the system bus answers")]
        do throws(DBusError) {
            let found = try await look(at: connection, kernel)
            findings += [PolicyCheck.current.finding(nil)] + found
        } catch {
            findings += Self.findings(for: error, policy: .current)
        }
        await connection.close()
        return findings
    }

    /// What it means that bluetoothd's objects could not be had.
    static func findings(for error: DBusError, policy: PolicyCheck) -> [Finding] {
        let bluetoothd =
            PolicyCheck.isDenial(error)
            ? Finding("bluetoothd", .skipped, "cannot be said while the bus keeps us from it")
            : Finding(
                "bluetoothd",
                .bad,
                error.sentence,
                fix: "sudo systemctl restart bluetooth"
            )
        return [policy.finding(error), bluetoothd]
    }

    private func look(
        at connection: Connection,
        _ kernel: KernelCheck
    ) async throws(DBusError) -> [Finding] {
        guard let owner = try await connection.owner(of: BlueZ.busName) else {
            return [
                Finding(
                    "bluetoothd",
                    .bad,
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
        let objects = try await connection.call(call, timeout: BlueZPeer.usualTimeout)
        let adapters = BluetoothAdapters(objects).adapters
        let running = Finding("bluetoothd", .good, "running")
        guard !adapters.isEmpty else {
            let none =
                kernel.hasNone
                ? Finding("adapter", .skipped, "bluetoothd has none, as the kernel has none")
                : Finding(
                    "adapter",
                    .bad,
                    "bluetoothd has none of the kernel's adapters.",
                    fix: "sudo systemctl restart bluetooth"
                )
            return [running, none]
        }
        let heard = await listen(adapters, connection, owner)
        return [running]
            + adapters.flatMap { adapter in
                adapter.findings(main: .current, heard: heard?.0 == adapter.name ? heard?.1 : nil)
            }
    }

    /// Has the daemon's adapter advertise for some seconds, and another one listen.
    ///
    /// - Returns: which one advertised, and what was heard; `nil` where there are not two.
    private func listen(
        _ adapters: [BluetoothAdapters.Adapter],
        _ connection: Connection,
        _ owner: String
    ) async -> (String, HeardInterval)? {
        let able = adapters.filter { $0.isPowered && $0.canAdvertise }
        guard let advertiser = able.first(where: { $0.name == adapter }) ?? able.first,
            let listener = adapters.first(where: { $0.isPowered && $0.name != advertiser.name }),
            let path = advertiser.state?.path, let state = listener.state
        else { return nil }
        let outcome = await IntervalMeasurement(of: path, by: state, on: connection, owner: owner)
            .run()
        return (advertiser.name, HeardInterval(listener: listener.name, outcome: outcome))
    }
}
