import BlueZ
import BusTestSupport
import DBus
import GotchuCore
import Synchronization
import TestSupport
import Testing

/// The measurement against a scripted bluetoothd; with two real ones in the virtual machine.
@Suite("How often an adapter advertises", .timeLimit(.minutes(1)))
struct IntervalMeasurementTests {
    private static let service = IntervalMeasurement.serviceUUID.description

    @Test("is heard by another, under a service that no payer looks for", arguments: [false, true])
    func heard(hasMonitors: Bool) async throws {
        try await Self.with(hasMonitors) { bluez, measurement in
            // SAFETY: ends with the connection, whose calls then fail.
            let air = Task {
                while !Task.isCancelled {
                    // SAFETY: the interval of a simulated advertiser, which is what is measured.
                    try await Task.sleep(for: .milliseconds(20))
                    guard let data = bluez.state.withLock({ $0.advertisements.values.first?.data })
                    else { continue }
                    try await bluez.hears(1, rssi: -40, data: data, service: Self.service)
                }
            }
            let outcome = await measurement.run(within: .seconds(20))
            air.cancel()
            guard case .interval(let interval) = outcome else {
                Issue.record("\(outcome)")
                return
            }
            #expect(interval >= .milliseconds(15))
            try await eventually("it to be off the air") {
                bluez.state.withLock { $0.advertisements.isEmpty } ? true : nil
            }
            let (filters, calls, monitors) = bluez.state.withLock {
                (Array($0.filters.values), $0.calls, $0.monitors.count)
            }
            #expect(filters.allSatisfy { $0["UUIDs"]?.asStrings == [Self.service] })
            #expect(monitors == (hasMonitors ? 1 : 0))
            // Only where repeats may be left out has the scan to be begun anew for each.
            let filterings = calls.count { $0 == "SetDiscoveryFilter" }
            #expect(hasMonitors ? filterings == 1 : filterings > 3)
        }
    }

    @Test("is not guessed where nothing is heard, nor where it may not advertise")
    func notHeard() async throws {
        try await Self.with(false) { _, measurement in
            #expect(await measurement.run(within: .milliseconds(500)) == .notHeard)
        }
        try await Self.with(false) { bluez, measurement in
            bluez.state.withLock { $0.refusals["RegisterAdvertisement"] = ["NotPermitted"] }
            #expect(await measurement.run(within: .seconds(20)) == .refused(.notPermitted))
        }
    }

    private static func with(
        _ hasMonitors: Bool,
        _ body: (FaultyBlueZ, IntervalMeasurement) async throws -> Void
    ) async throws {
        let bus = try PrivateBus()
        let bluez = try await FaultyBlueZ(on: bus) { $0.canMonitor = hasMonitors }
        let connection = try await bus.connect()
        let owner = try #require(try await connection.owner(of: BlueZ.busName))
        var listener = AdapterState(path: FaultyBlueZ.adapter)
        listener.canMonitor = hasMonitors
        listener.version = BlueZVersion(5, 66)
        let measurement = IntervalMeasurement(
            of: FaultyBlueZ.adapter,
            by: listener,
            on: connection,
            owner: owner
        )
        try await body(bluez, measurement)
        await connection.close()
        await bluez.stop()
    }
}
