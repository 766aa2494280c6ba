import BlueZ
import BusTestSupport
import GotchuCore
import Radio
import TestSupport
import Testing

@testable import BlueZRadio

@Suite("A radio that starts and stops listening")
struct ListeningRadioTests {
    private static let eid = EID(literal: "a1b2c3d4e5")
    private static let timings = RecoveryTimings()

    @Test("The radio requests no scan from bluetoothd before listening is requested")
    func asked() async throws {
        let bus = try PrivateBus()
        let bluez = try await ScriptedBlueZ(on: bus)
        try await RunningRadio.with(bus, isListening: false) { running in
            var requests = bluez.requests.makeAsyncIterator()
            func next() async -> ScriptedBlueZ.Request? { await requests.next(isolation: nil) }
            let state = try await running.state { $0.adapter != nil }
            #expect(!state.isListeningWanted && !state.isScanning && state.problem == nil)
            try await running.radio.startAdvertising(Self.eid)
            guard case .register = await next() else {
                Issue.record("the first request is not the advertisement's")
                return
            }
            // bluetoothd reports a device because of another program's scan. The radio must ignore
            // this report.
            try await bluez.hears(rssi: -60, data: Self.eid.serviceData)
            await running.radio.setListening(true)
            guard case .setFilter = await next() else {
                Issue.record("the second request is not the filter's")
                return
            }
            #expect(await next() == .startDiscovery)
            _ = try await running.state { $0.isScanning }
            try await bluez.hears(2, rssi: -77, data: Self.eid.serviceData)
            #expect(try await running.sighting().rssi?.dBm == -77)
            await running.radio.setListening(false)
            #expect(await next() == .stopDiscovery)
            let end = try await running.state { !$0.isScanning && !$0.isListeningWanted }
            #expect(end.advertising == [Self.eid] && end.problem == nil)
        }
        await bluez.stop()
    }

    @Test("The management socket is closed while the radio does not listen, and then opened again")
    func management() async throws {
        let bus = try PrivateBus()
        let bluez = try await ScriptedBlueZ(on: bus)
        let kernel = ScriptedKernel()
        try await RunningRadio.with(bus, transport: .best, kernel: kernel) { running in
            func hears(_ level: Int8) async throws {
                let data = ManagementFrame.kiosk(Self.eid)
                kernel.send(ManagementFrame.deviceFound(data, rssi: level, adapter: 0))
                #expect(try await running.sighting().rssi?.dBm == Int(level))
            }
            for level: Int8 in [-60, -50, -40] {
                let state = try await running.state { $0.isScanning }
                #expect(state.transport == .management && !state.isTransportDegraded)
                try await eventually("the socket is open") { kernel.isHeard ? true : nil }
                try await hears(level)
                await running.radio.setListening(false)
                try await eventually("the socket is closed") { kernel.isHeard ? nil : true }
                let asleep = try await running.state { !$0.isScanning }
                #expect(asleep.transport == .management && asleep.problem == nil)
                await running.radio.setListening(true)
            }
        }
        await bluez.stop()
    }

    @Test("If no scan is wanted, an unresponsive controller is probed by a new registration")
    func probed() async throws {
        var timings = Self.timings
        (timings.pollInterval, timings.fastPollInterval) = (.milliseconds(20), .milliseconds(20))
        timings.firstRest = .milliseconds(200)
        let bus = try PrivateBus()
        let bluez = try await ScriptedBlueZ(on: bus)
        let counts = KernelCounts()
        try await RunningRadio.with(bus, counts: counts, timings: timings, isListening: false) {
            running in
            var requests = bluez.requests.makeAsyncIterator()
            func next() async -> ScriptedBlueZ.Request? { await requests.next(isolation: nil) }
            _ = try await running.state { $0.adapter != nil }
            try await running.radio.startAdvertising(Self.eid)
            guard case .register = await next() else {
                Issue.record("the first request is not the advertisement's")
                return
            }
            try await counts.looked()
            counts.lostCommand()
            _ = try await running.state { $0.problem?.code == .adapterUnresponsive }
            #expect(await next() == .unregister)
            guard case .register = await next() else {
                Issue.record("the EID is not registered again")
                return
            }
            counts.commanded(2)
            _ = try await running.state { $0.problem == nil && $0.advertising == [Self.eid] }
        }
        await bluez.stop()
    }

    @Test("A scan that is no longer wanted is stopped, and its problems end")
    func planned() {
        var planner = BlueZPlanner(adapterName: nil)
        planner.wantScan(true)
        var now = MonotonicTime(sinceStart: .zero)
        planner.linkChanged(.asking(":1.1"))
        planner.adaptersChanged([AdapterState.hci0()], now: now)
        func finish(_ action: BlueZPlanner.Action, _ code: RadioFailure.Code? = nil) {
            let result = code.map { Result<Void, RadioFailure>.failure(RadioFailure($0)) }
            planner.finished(action, result ?? .success(()), epoch: planner.epoch, now: now)
        }
        #expect(planner.next(now: now) == .startScan(isRestart: false))
        finish(.startScan(isRestart: false), .scanBusy)
        #expect(planner.state.problem != nil)
        planner.wantScan(false)
        #expect(planner.state.problem == nil && !planner.state.isListeningWanted)
        // The refused start is followed by a stop. Only a stop without an answer is repeated.
        #expect(planner.next(now: now) == .stopScan)
        finish(.stopScan, .timedOut)
        #expect(planner.next(now: now) == .stopScan)
        finish(.stopScan, .rejected)
        for _ in 0..<100 {
            now = now + Self.timings.maximumPause
            #expect(planner.next(now: now) == nil && planner.nextDeadline(now: now) == nil)
        }
        // A start that fails after the scan became unwanted causes no problem.
        planner.wantScan(true)
        #expect(planner.next(now: now) == .startScan(isRestart: false))
        planner.wantScan(false)
        finish(.startScan(isRestart: false), .scanBusy)
        #expect(planner.state.problem == nil && planner.next(now: now) == .stopScan)
        finish(.stopScan)
        #expect(planner.state.problem == nil && planner.next(now: now) == nil)
        // An adapter that disappears during a start may scan when it returns, so the scan is
        // stopped.
        planner.wantScan(true)
        #expect(planner.next(now: now) == .startScan(isRestart: false))
        planner.adaptersChanged([], now: now)
        planner.wantScan(false)
        planner.adaptersChanged([AdapterState.hci0()], now: now)
        #expect(planner.next(now: now) == .stopScan)
        finish(.stopScan)
        // A scan that is wanted again while it is being stopped is started again.
        planner.wantScan(true)
        #expect(planner.next(now: now) == .startScan(isRestart: false))
        planner.wantScan(false)
        finish(.startScan(isRestart: false))
        #expect(planner.next(now: now) == .stopScan)
        planner.wantScan(true)
        finish(.stopScan)
        #expect(planner.next(now: now) == .startScan(isRestart: false))
        finish(.startScan(isRestart: false))
        #expect(planner.state.isScanning && planner.state.isListeningWanted)
    }
}
