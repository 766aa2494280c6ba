import BlueZ
import DBus
import GotchuCore
import TestSupport
import Testing

@testable import Radio

/// When a monitor is asked for, and what it is believed.
@Suite struct MonitorPlanTests {
    private var planner = BlueZPlanner(adapterName: nil)
    private var now = MonotonicTime(sinceStart: .seconds(100))

    init() {
        planner.usesMonitor = true
        planner.linkChanged(.asking(":1.1"))
    }

    @Test("a monitor comes before the scan, and counts from when the kernel has accepted it")
    mutating func activation() {
        show()
        #expect(planner.next(now: now) == .startMonitor)
        finish(.startMonitor)
        #expect(planner.state.hasMonitor == false)
        planner.monitorActivated()
        #expect(planner.state.hasMonitor == true)
        #expect(planner.next(now: now) == .startScan(isRestart: false))
        finish(.startScan(isRestart: false))
        #expect(planner.next(now: now) == nil && planner.state.transport == nil)
    }

    @Test("while the kernel is busy a monitor hears, and one that is refused is done without")
    mutating func busy() {
        for isRefused in [false, true] {
            planner.linkChanged(.asking(isRefused ? ":1.3" : ":1.2"))
            show()
            #expect(planner.next(now: now) == .startMonitor)
            // What the kernel says of it may come before bluetoothd's own answer.
            if !isRefused { planner.monitorActivated() }
            finish(.startMonitor, isRefused ? .failure(RadioFailure(.rejected)) : .success(()))
            #expect(planner.next(now: now) == .startScan(isRestart: false))
            finish(.startScan(isRestart: false), .failure(RadioFailure(.scanBusy)))
            #expect(planner.state.isScanning == !isRefused)
            #expect(planner.state.transport == (isRefused ? nil : .monitor))
            #expect((planner.state.problem == nil) == !isRefused)
            #expect(planner.next(now: now) == nil, "a refusal is not asked about again")
        }
        now = now + RecoveryTimings().busyPause
        #expect(planner.next(now: now) == .startScan(isRestart: true))
        finish(.startScan(isRestart: true))
        #expect(planner.state.isScanning && planner.state.problem == nil)
    }

    /// A monitor that is active, up to the scan to be started beside it; power may be cycled.
    private mutating func startMonitor(isOffloaded: Bool) {
        planner = BlueZPlanner(adapterName: nil, canPowerCycle: true)
        planner.usesMonitor = true
        planner.linkChanged(.asking(":1.1"))
        show()
        #expect(planner.next(now: now) == .startMonitor)
        planner.monitorActivated()
        if isOffloaded { planner.monitorOffloaded() }
        finish(.startMonitor)
        #expect(planner.next(now: now) == .startScan(isRestart: false))
    }

    @Test("one that the controller matches for does not stand in for a scan, nor keep the power on")
    mutating func offloaded() {
        startMonitor(isOffloaded: true)
        finish(.startScan(isRestart: false), .failure(RadioFailure(.scanBusy)))
        #expect(planner.state.hasMonitor == true && !planner.state.isScanning)
        #expect(planner.state.problem?.code == .scanBusy)
        now = now + RecoveryTimings().busyPause
        #expect(planner.next(now: now) == .startScan(isRestart: true))
        finish(.startScan(isRestart: true))
        let actions = stick()
        #expect(actions == [.refreshScan, .powerCycle])
    }

    @Test("one that bluetoothd matches for hears beside a kernel that is stuck: the power stays on")
    mutating func standsIn() {
        startMonitor(isOffloaded: false)
        finish(.startScan(isRestart: false))
        let actions = stick()
        #expect(actions == [.refreshScan])
        #expect(planner.state.isScanning && planner.state.transport == .monitor)
    }

    @Test("a monitor that is dropped is asked for again, ever more rarely")
    mutating func released() {
        show()
        var pause = MonitorPlan.firstPause
        for _ in 0..<10 {
            while let action = planner.next(now: now) { finish(action) }
            planner.monitorActivated()
            planner.monitorReleased(now: now)
            #expect(planner.state.hasMonitor == false && planner.next(now: now) == nil)
            now = now + (pause - .milliseconds(1))
            planner.noticed(now: now)
            #expect(planner.next(now: now) == nil)
            now = now + .milliseconds(1)
            #expect(planner.next(now: now) == .startMonitor)
            finish(.startMonitor)
            pause = min(pause * 2, MonitorPlan.longestPause)
        }
    }

    @Test("with bluetoothd, its adapter or its manager a monitor goes, and comes back with it")
    mutating func comesBack() {
        show()
        while let action = planner.next(now: now) { finish(action) }
        planner.monitorActivated()
        planner.adaptersChanged([Self.adapter(canMonitor: false)], now: now)
        #expect(planner.state.hasMonitor == nil && planner.next(now: now) == nil)
        show()
        #expect(planner.next(now: now) == .startMonitor)
        planner.monitorActivated()
        var off = Self.adapter(canMonitor: true)
        off.isPowered = false
        planner.adaptersChanged([off], now: now)
        #expect(planner.next(now: now) == nil)
        show()
        #expect(planner.next(now: now) == .startMonitor)
        // The answer of the first comes late, and is about another.
        finish(.startMonitor, .failure(RadioFailure(.noBlueZ)), epoch: planner.epoch - 1)
        planner.monitorActivated()
        #expect(planner.state.hasMonitor == true)
    }

    @Test("that a monitor is taken says nothing about a scan that is refused")
    mutating func noProof() {
        show()
        planner.monitorActivated()
        for _ in 0..<BlueZPlanner.failureLimit {
            now = now + .seconds(3)
            while let action = planner.next(now: now), action != .reconnect {
                let isScan = action != .startMonitor
                finish(action, isScan ? .failure(RadioFailure(.rejected)) : .success(()))
            }
        }
        #expect(planner.ladder.reason == .refused)
        planner.linkChanged(.connecting)
        planner.linkChanged(.asking(":1.4"))
        show()
        #expect(planner.next(now: now) == .startMonitor)
        finish(.startMonitor)
        #expect(planner.ladder.reason == .refused)
    }

    private static func adapter(canMonitor: Bool) -> AdapterState {
        var adapter = AdapterState(path: ScriptedBlueZ.adapter)
        adapter.isPowered = true
        adapter.isDiscovering = true
        adapter.canMonitor = canMonitor
        return adapter
    }

    private mutating func show() {
        planner.adaptersChanged([Self.adapter(canMonitor: true)], now: now)
    }

    /// The controller stops answering for a moment, and the kernel waits for ever for an answer.
    ///
    /// - Returns: what is done about it.
    private mutating func stick() -> [BlueZPlanner.Action] {
        let timings = RecoveryTimings()
        var traffic = ControllerTraffic(commands: 0, events: 0)
        _ = planner.controllerLooked(traffic, now: now)
        now = now + timings.look
        traffic.commands += 1
        _ = planner.controllerLooked(traffic, now: now)
        now = now + timings.closeLook
        #expect(planner.controllerLooked(traffic, now: now) == .fellMute)
        now = now + timings.look
        traffic.events += 1
        #expect(planner.controllerLooked(traffic, now: now) == .answersAgain)
        var actions: [BlueZPlanner.Action] = []
        // Nobody knows yet whether another filter masks ours.
        let end = now + (timings.nextCycle + timings.answerLimit * 2)
        while now < end {
            if let action = planner.next(now: now) {
                actions.append(action)
                finish(action)
            }
            now = now + timings.answerLimit
            _ = planner.controllerLooked(traffic, now: now)
        }
        return actions
    }

    private mutating func finish(
        _ action: BlueZPlanner.Action,
        _ result: Result<Void, RadioFailure> = .success(()),
        epoch: Int? = nil
    ) {
        planner.finished(action, result, epoch: epoch ?? planner.epoch, now: now)
    }
}

/// What a monitor's matches come to.
@Suite struct MonitorEarTests {
    private static let device = ScriptedBlueZ.device(1)
    private static let eid = EID(literal: "a1b2c3d4e5")

    @Test("a match is a sighting without a level, of what the device said before")
    func match() throws {
        var ear = MonitorEar()
        let start = MonotonicTime(sinceStart: .seconds(1))
        #expect(ear.found(Self.device, now: start) == nil, "nothing is known of it")
        ear.heard(Self.sighting(Self.eid, start), from: Self.device)
        #expect(ear.found(Self.device, now: start + .milliseconds(49)) == nil, "told already")
        let match = ear.found(Self.device, now: start + .milliseconds(100))
        let found = try #require(match)
        #expect(found.eid == Self.eid && found.carrier == .localName && found.rssi == nil)
        #expect(found.time == start + .milliseconds(100) && found.adapter == "hci0")
        ear.forget()
        #expect(ear.isEmpty && ear.found(Self.device, now: start + .seconds(1)) == nil)
    }

    @Test("any number of devices takes up the room of 64, the newest of them")
    func bound() {
        var ear = MonitorEar()
        var time = MonotonicTime(sinceStart: .seconds(1))
        for number in 0..<1000 {
            time = time + .milliseconds(1)
            ear.heard(Self.sighting(Self.eid, time), from: ScriptedBlueZ.device(number))
        }
        let later = time + .seconds(1)
        let known = (0..<1000).filter { ear.found(ScriptedBlueZ.device($0), now: later) != nil }
        #expect(known == Array((1000 - MonitorEar.limit)..<1000))
    }

    private static func sighting(_ eid: EID, _ time: MonotonicTime) -> Sighting {
        Sighting(
            time: time,
            eid: eid,
            carrier: .localName,
            rssi: RSSI(dBm: -50),
            adapter: "hci0"
        )
    }
}
