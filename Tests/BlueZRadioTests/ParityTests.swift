import BlueZRadio
import BusTestSupport
import Foundation
import GotchuCore
import Radio
import TestSupport
import Testing

/// A test that one trace gives the same sightings and verdicts over each transport.
@Suite("The equality of the transports") struct ParityTests {
    @Test("The kernel's frames and bluetoothd's signals give the same sightings and verdicts")
    func parity() async throws {
        let overManagement = try await management()
        let overDBus = try await dbus()
        #expect(overManagement == overDBus)
        // A replayed recording of the sightings gives the same outcome too.
        let replayed = try await replay(overManagement)
        #expect(replayed == overManagement)
        // The outcome is not empty.
        #expect(overManagement.heard.count == AirTrace.sightingCount)
        #expect(overManagement.ignored == [.tile])
        #expect(overManagement.verdicts.contains { $0.hasSuffix("\(AirTrace.kiosk) tap") })
        #expect(overManagement.verdicts.last?.hasSuffix("far") == true)
        let carriers = Set(overManagement.heard.map { "\($0.eid) \($0.carrier)" })
        #expect(
            carriers == ["\(AirTrace.kiosk) serviceData", "\(AirTrace.phone) localName"]
        )
    }

    private func management() async throws -> TraceOutcome {
        let bus = try PrivateBus()
        let bluez = try await ScriptedBlueZ(on: bus)
        let kernel = ScriptedKernel()
        let outcome = Outcome()
        try await RunningRadio.with(bus, transport: .best, kernel: kernel) { running in
            _ = try await running.state { $0.isScanning && $0.transport == .management }
            for step in AirTrace.steps { kernel.send(AirTrace.frame(step)) }
            await outcome.set(try await TraceOutcome.collect { try await running.next { $0 } })
        }
        await bluez.stop()
        return try await outcome.get()
    }

    private func dbus() async throws -> TraceOutcome {
        let bus = try PrivateBus()
        let bluez = try await ScriptedBlueZ(on: bus)
        let outcome = Outcome()
        try await RunningRadio.with(bus) { running in
            _ = try await running.state { $0.isScanning && $0.transport == .dbus }
            var known: Set<AirTrace.Sender> = []
            for step in AirTrace.steps {
                let path = ScriptedBlueZ.device(step.sender.rawValue)
                let properties = AirTrace.properties(step)
                if known.insert(step.sender).inserted {
                    try await bluez.added(path, ["org.bluez.Device1": properties])
                } else {
                    try await bluez.changed(
                        path,
                        "org.bluez.Device1",
                        properties.filter { $0.key == "RSSI" }
                    )
                }
            }
            await outcome.set(try await TraceOutcome.collect { try await running.next { $0 } })
        }
        await bluez.stop()
        return try await outcome.get()
    }

    private func replay(_ heard: TraceOutcome) async throws -> TraceOutcome {
        let pseudonym = Pseudonymizer()
        let lines = heard.heard.enumerated().map { index, heard in
            RecordingLine(
                time: .milliseconds(2 * index),
                event: .heard(
                    pseudonym.pseudonym(of: heard.eid),
                    heard.carrier,
                    heard.dBm.flatMap { RSSI(dBm: $0) }
                )
            )
        }
        let tile = RecordingLine(time: .zero, event: .ignored(.tile))
        var events = try await played([tile] + lines)[...]
        let originals = Dictionary(
            uniqueKeysWithValues: Set(heard.heard.map(\.eid)).map {
                (pseudonym.pseudonym(of: $0), $0)
            }
        )
        return try await TraceOutcome.collect {
            guard case .heard(let sighting)? = events.first else { return events.popFirst() }
            events.removeFirst()
            return .heard(
                Sighting(
                    time: sighting.time,
                    eid: try #require(originals[sighting.eid]),
                    carrier: sighting.carrier,
                    rssi: sighting.rssi,
                    adapter: sighting.adapter
                )
            )
        }
    }

    private func played(_ lines: [RecordingLine]) async throws -> [RadioEvent] {
        let header = RecordingHeader(
            version: "0",
            radio: "bluez",
            adapter: "hci0",
            transport: "management",
            bluezVersion: "5.66",
            startedAt: Timestamp(milliseconds: 0),
            policy: ProximityPolicy()
        )
        let encoder = JSONEncoder()
        let newline = Data("\n".utf8)
        var text = try encoder.encode(header) + newline
        for line in lines { text += try encoder.encode(line) + newline }
        let radio = ReplayRadio(try Recording(text))
        let (heard, output) = AsyncStream<RadioEvent>.makeStream()
        let running = Task { try await radio.run { output.yield($0) } }  // SAFETY: cancelled below.
        defer { running.cancel() }
        var events: [RadioEvent] = []
        for await event in heard {
            events.append(event)
            if case .stateChanged(let state) = event, state.problem != nil { break }
        }
        return events
    }

    /// Passes a result out of the closure in which the radio runs.
    private actor Outcome {
        private var value: TraceOutcome?

        func set(_ new: TraceOutcome) { value = new }

        func get() throws -> TraceOutcome { try #require(value) }
    }
}
