import BusTestSupport
import DBus
import Radio
import Synchronization
import TestSupport
import Testing

/// Tests of the radio's log lines.
@Suite("The radio's log")
struct RadioLogTests {
    @Test("The log names each problem, its end, and the adapter in use")
    func problems() async throws {
        let log = RecordedLog()
        let bus = try PrivateBus()
        let bluez = try await FaultyBlueZ(on: bus)
        try await RunningRadio.with(bus, logger: log.logger) { running in
            _ = try await running.state { $0.isScanning }
            bluez.state.withLock { $0.isPowered = false }
            try await bluez.changed(["Powered": .boolean(false)])
            _ = try await running.state { $0.problem?.code == .adapterOff }
            bluez.state.withLock { $0.isPowered = true }
            try await bluez.changed(["Powered": .boolean(true)])
            _ = try await running.state { $0.isScanning && $0.problem == nil }
            await bluez.stop()
            _ = try await running.state { $0.problem?.code == .noBlueZ }
            let next = try await FaultyBlueZ(on: bus)
            _ = try await running.state { $0.isScanning && $0.problem == nil }
            await next.stop()
        }
        let said = log.lines.filter { $0.contains("adapter is used") || $0.contains("the radio") }
        #expect(
            said.prefix(5) == [
                "notice: this adapter is used adapter=hci0",
                "warning: the radio has a problem code=bluetooth-adapter-off "
                    + "what=The Bluetooth adapter is switched off.",
                "notice: the radio works again after=bluetooth-adapter-off",
                "warning: the radio has a problem code=bluetoothd-not-running "
                    + "what=bluetoothd is not running.",
                "notice: the radio works again after=bluetoothd-not-running",
            ]
        )
    }
}
