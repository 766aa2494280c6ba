import BusTestSupport
import GotchuCore
import Radio
import TestSupport
import Testing

/// One trace through each transport gives the same presences.
@Suite("Transports are alike", .timeLimit(.minutes(hangLimit))) struct ParityTests {
    @Test("the kernel's frames and bluetoothd's signals come to the same sightings and verdicts")
    func parity() async throws {
        let overManagement = try await management()
        let overDBus = try await dbus()
        #expect(overManagement == overDBus)
        // As a recording of the one would play it.
        let replayed = try await replay(overManagement)
        #expect(replayed == overManagement)
        // A monitor tells fewer levels, and the same story.
        let overMonitor = try await monitor()
        #expect(overMonitor.ignored == overManagement.ignored)
        #expect(overMonitor.story == overManagement.story)
        #expect(overMonitor.story.contains("\(AirTrace.kiosk) tap"))
        // And they are what happened, not three times nothing.
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

    /// The kernel refuses a scan all the while.
    private func monitor() async throws -> TraceOutcome {
        let bus = try PrivateBus()
        let bluez = try await FaultyBlueZ(on: bus) { state in
            state.canMonitor = true
            state.isKernelBusy = true
        }
        let result = Outcome()
        try await RunningRadio.with(bus) { running in
            _ = try await running.state { $0.transport == .monitor }
            var trace = TraceCollector()
            for (index, step) in AirTrace.steps.enumerated() {
                // Twice in a second the scan is asked for again, and with each refusal bluetoothd
                // lets go of what cannot be connected to: of the kiosk alone.
                if index % 8 == 0 { try await bluez.forgets(AirTrace.kioskPath) }
                let path = ScriptedBlueZ.device(step.sender.rawValue)
                guard try await bluez.monitorHears(path, AirTrace.properties(step)) else {
                    continue
                }
                let event = try await running.next { event -> RadioEvent? in
                    switch event {
                    case .heard(let sighting): sighting.rssi == nil ? nil : event
                    case .ignored: event
                    case .stateChanged: nil
                    }
                }
                trace.take(event, at: step.time)
            }
            await result.set(trace.outcome)
        }
        await bluez.stop()
        return try await result.get()
    }

    private func replay(_ heard: TraceOutcome) async throws -> TraceOutcome {
        let pseudonym = Pseudonym()
        let lines = heard.heard.enumerated().map { index, heard in
            RecordingLine(
                time: .milliseconds(2 * index),
                event: .heard(
                    pseudonym.of(heard.eid),
                    heard.carrier,
                    heard.dBm.flatMap { RSSI(dBm: $0) }
                )
            )
        }
        let tile = RecordingLine(time: .zero, event: .ignored(.tile))
        var events = try await ReplayTests.played([tile] + lines)[...]
        let originals = Dictionary(
            uniqueKeysWithValues: Set(heard.heard.map(\.eid)).map { (pseudonym.of($0), $0) }
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

    /// Carries a result out of a running radio's scope.
    private actor Outcome {
        private var value: TraceOutcome?

        func set(_ new: TraceOutcome) { value = new }

        func get() throws -> TraceOutcome { try #require(value) }
    }
}
