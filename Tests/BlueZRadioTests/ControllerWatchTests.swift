import BlueZ
import DBus
import GotchuCore
import Radio
import TestSupport
import Testing

@testable import BlueZRadio

/// Tests of the recovery from a controller that does not answer the kernel's commands.
@Suite struct ControllerWatchTests {
    private static let eid = EID(literal: "a1b2c3d4e5")
    private static let timings = RecoveryTimings()
    private var planner = BlueZPlanner(adapterName: nil, canPowerCycle: true)
    private var now = MonotonicTime(sinceStart: .seconds(100))
    /// The kernel's counts of commands and events. They overflow in the tests.
    private var traffic = ControllerTraffic(commands: .max - 3, events: .max - 1)

    init() {
        planner.wantScan(true)
        planner.linkChanged(.asking(":1.1"))
        planner.adaptersChanged([AdapterState.hci0()], now: now)
        #expect(planner.next(now: now) == .startScan(isRestart: false))
        finish(.startScan(isRestart: false))
        planner.adaptersChanged([AdapterState.hci0(isDiscovering: true)], now: now)
        readCounts()
    }

    @Test("Commands with immediate or slightly late answers cause no problem and no recovery")
    mutating func answered() {
        for _ in 0..<100 {
            readCounts(commands: 4, events: 4, after: .seconds(3))
            readCounts(commands: 1, after: .seconds(3))
            readCounts(commands: 1, events: 1, after: .milliseconds(100))
            readCounts(events: 1, after: .milliseconds(100))
            readCounts(events: 9, after: .seconds(3))
        }
        #expect(planner.state.isScanning && planner.state.problem == nil)
        #expect(planner.state.recovery.rungs.values.allSatisfy { $0 == 0 })
    }

    @Test(
        "A controller counts as unresponsive once a command is unanswered for a fast poll interval"
    )
    mutating func unresponsive() {
        readCounts(commands: 1, after: .seconds(3))
        readCounts(after: Self.timings.fastPollInterval - .milliseconds(1))
        #expect(!planner.controller.isUnresponsive)
        #expect(readCounts(after: .milliseconds(1)) == .stoppedAnswering)
        #expect(planner.state.problem == RadioFailure(.adapterUnresponsive))
        #expect(!planner.state.isScanning)
    }

    @Test("A command without an answer is noticed even if later commands are answered")
    mutating func lostCommand() {
        readCounts(commands: 3, events: 1, after: Self.timings.scanCycle)
        #expect(readCounts(commands: 2, events: 2, after: Self.timings.fastPollInterval) == nil)
        #expect(planner.next(now: now) == nil, "an answer may be on its way")
        #expect(readCounts(events: 1, after: Self.timings.fastPollInterval) == .answersAgain)
        // A scan restart that is due for fresh samples must also wait until the kernel gives up
        // the command.
        hear()
        expectNothingUntilGivenUp()
        expect(.refreshScan, .refilter)
        finish(.refreshScan)
        readCounts(commands: 4, events: 4, after: .milliseconds(100))
        #expect(planner.state.problem == nil && planner.state.isScanning)
        pass(SampleRefresher.fastPause)
        #expect(planner.next(now: now) == .refreshScan)
        #expect(planner.popStep() == nil, "this refresh is no recovery step")
    }

    @Test("A scan that did not begin is restarted until it begins, and not again afterwards")
    mutating func lostStart() {
        fallSilent()
        #expect(planner.next(now: now) == nil, "the kernel still waits")
        for _ in 0..<3 {
            pass(Self.timings.commandLimit)
            expect(.refreshScan, .refilter)
            finish(.refreshScan)
            readCounts(commands: 1, after: .milliseconds(100))
        }
        #expect(readCounts(events: 3, after: .milliseconds(100)) == .answersAgain)
        expectNothingUntilGivenUp()
        expect(.refreshScan, .refilter)
        finish(.refreshScan)
        readCounts(commands: 4, events: 4, after: .milliseconds(100))
        pass(Self.timings.answerLimit)
        #expect(planner.next(now: now) == nil)
        #expect(planner.state.isScanning && planner.state.problem == nil)
        #expect(planner.state.recovery.rungs[.refilter] == 4)
    }

    @Test("A scan that still runs is not restarted before its cycle ends")
    mutating func nothingIsStopped() {
        planner.requestAdvertising(Self.eid)
        #expect(planner.next(now: now) == .register(Self.eid))
        readCounts(commands: 1, after: .milliseconds(100))
        // The lost command belongs to the advertisement, so the scan still runs.
        #expect(readCounts(after: Self.timings.fastPollInterval) == .stoppedAnswering)
        let fell = now
        hear()
        while now - fell < Self.timings.scanCycle - .seconds(1) {
            pass(.milliseconds(500))
            #expect(planner.next(now: now) == nil)
        }
        pass(.seconds(1))
        expect(.refreshScan, .refilter)
    }

    @Test(
        "An EID is registered again after a failure in an outage, and after each outage"
    )
    mutating func advertisements() {
        planner.requestAdvertising(Self.eid)
        #expect(planner.next(now: now) == .register(Self.eid))
        readCounts(commands: 1, after: .seconds(2))
        finish(.register(Self.eid), .failure(RadioFailure(.rejected)))
        #expect(planner.outcome(of: Self.eid) == nil)
        pass(Self.timings.firstPause)
        #expect(planner.next(now: now) == .register(Self.eid))
        finish(.register(Self.eid))
        #expect(planner.outcome(of: Self.eid).map { (try? $0.get()) != nil } == true)
        readCounts(events: 5, after: .milliseconds(100))
        fallSilent()
        readCounts(events: 1, after: .seconds(3))
        #expect(planner.next(now: now) == .register(Self.eid), "the controller may have lost it")
    }

    @Test("The adapter is power-cycled if the kernel sends no command after a filter")
    mutating func stuck() {
        proveFilter()
        fallSilent()
        readCounts(events: 1, after: .seconds(3))
        expect(.refreshScan, .refilter)
        finish(.refreshScan)
        // The kernel sent a command after the restart, so it is not stuck. The restart is repeated.
        readCounts(commands: 1, events: 5, after: Self.timings.answerLimit)
        expect(.refreshScan, .refilter)
        finish(.refreshScan)
        readCounts(events: 5, after: Self.timings.answerLimit)
        expect(.powerCycle, .powerCycle)
        planner.adaptersChanged([AdapterState.hci0(isPowered: false)], now: now)
        planner.adaptersChanged([AdapterState.hci0()], now: now)
        planner.finished(.powerCycle, .success(()), epoch: 0, now: now)
        #expect(planner.next(now: now) == .startScan(isRestart: true))
        finish(.startScan(isRestart: false))
        #expect(planner.state.problem == nil && planner.state.isScanning)
    }

    @Test("A stuck kernel is noticed even if the controller does not answer again")
    mutating func stuckInSilence() {
        proveFilter()
        fallSilent()
        for action in [BlueZPlanner.Action.refreshScan, .powerCycle] {
            pass(Self.timings.commandLimit)
            #expect(planner.next(now: now) == action)
            finish(action)
            readCounts(after: .milliseconds(100))
        }
    }

    /// Sets our filter after an outage of the controller, while another program's filter may mask
    /// ours.
    ///
    /// - Parameter isKnown: True if the planner has already noticed that our filter is masked.
    private mutating func refilterInVain(isKnown: Bool) {
        if isKnown { maskFilter() }
        fallSilent()
        readCounts(events: 1, after: .seconds(3))
        expect(.refreshScan, .refilter)
        finish(.refreshScan)
    }

    @Test(
        "If a wider filter may mask ours, missing commands cause no power cycle at first",
        arguments: [true, false]
    )
    mutating func maskedFilter(isKnown: Bool) {
        refilterInVain(isKnown: isKnown)
        readCounts(events: 5, after: Self.timings.answerLimit)
        #expect(planner.next(now: now) == nil)
        readCounts(commands: 4, events: 6, after: .seconds(7))
        #expect(planner.next(now: now) == nil)
        #expect(planner.state.problem == nil && planner.state.isScanning)
        #expect(planner.state.recovery.rungs[.powerCycle] == 0)
    }

    @Test(
        "If a wider filter may mask ours, a kernel counts as stuck only after a missing scan cycle",
        arguments: [true, false]
    )
    mutating func maskedAndStuck(isKnown: Bool) {
        refilterInVain(isKnown: isKnown)
        let limit = now + Self.timings.nextCycle
        while let due = planner.nextDeadline(now: now), due < limit {
            readCounts(events: 5, after: due - now)
            #expect(planner.next(now: now) == nil)
        }
        #expect(planner.nextDeadline(now: now) == limit)
        readCounts(events: 5, after: limit - now)
        expect(.powerCycle, .powerCycle)
    }

    @Test(
        "If our filter may be masked, lost commands cause a power cycle only after a scan cycle",
        arguments: [true, false]
    )
    mutating func maskedAndUnresponsive(isKnown: Bool) {
        if isKnown { maskFilter() }
        fallSilent()
        let fell = now
        while now - fell < Self.timings.scanCycle {
            readCounts(after: .milliseconds(500))
            let action = planner.next(now: now)
            #expect(action == nil || action == .refreshScan)
            if let action { finish(action) }
            #expect(planner.state.problem?.code == .adapterUnresponsive)
        }
        while now - fell < Self.timings.nextCycle + Self.timings.firstRest {
            readCounts(after: .milliseconds(500))
            guard let action = planner.next(now: now) else { continue }
            guard action == .refreshScan else { return #expect(action == .powerCycle) }
            finish(action)
        }
        Issue.record("no power cycle was requested in time")
    }

    @Test("Without permission to cycle the power, the planner reports the problem and keeps trying")
    mutating func stuckWithoutPower() {
        planner = BlueZPlanner(adapterName: nil)
        self = Self(planner: planner, now: now)
        proveFilter()
        fallSilent()
        readCounts(events: 1, after: .seconds(3))
        expect(.refreshScan, .refilter)
        finish(.refreshScan)
        readCounts(events: 1, after: Self.timings.answerLimit)
        #expect(planner.next(now: now) == nil)
        #expect(planner.state.problem == RadioFailure(.scanStuck) && !planner.state.isScanning)
        pass(Self.timings.firstRest)
        expect(.refreshScan, .refilter)
        readCounts(commands: 4, events: 4, after: .milliseconds(100))
        #expect(planner.state.problem == nil && planner.state.isScanning)
    }
}

extension ControllerWatchTests {
    @Test(
        "Without a scan, registrations probe the controller; without an EID too, the problem ends"
    )
    mutating func notScanning() {
        planner.requestAdvertising(Self.eid)
        finish(.register(Self.eid))
        planner.wantScan(false)
        finish(.stopScan)
        readCounts(commands: 1, after: .seconds(3))
        #expect(readCounts(after: Self.timings.fastPollInterval) == .stoppedAnswering)
        for _ in 0..<3 {
            #expect(planner.next(now: now) == nil && planner.state.problem != nil)
            pass((planner.nextDeadline(now: now) ?? now) - now)
            #expect(planner.next(now: now) == .register(Self.eid))
            finish(.register(Self.eid))
        }
        planner.cancelAdvertising(Self.eid)
        #expect(planner.next(now: now) == .unregister(Self.eid))
        finish(.unregister(Self.eid))
        #expect(planner.next(now: now) == nil && planner.state.problem != nil)
        pass((planner.nextDeadline(now: now) ?? now) - now)
        #expect(planner.next(now: now) == nil && planner.state.problem == nil)
        #expect(planner.nextDeadline(now: now) == nil)
    }

    private init(planner: BlueZPlanner, now: MonotonicTime) {
        self.planner = planner
        self.now = now
        self.planner.wantScan(true)
        self.planner.linkChanged(.asking(":1.1"))
        self.planner.adaptersChanged([AdapterState.hci0()], now: now)
        #expect(self.planner.next(now: now) == .startScan(isRestart: false))
        finish(.startScan(isRestart: false))
        self.planner.adaptersChanged([AdapterState.hci0(isDiscovering: true)], now: now)
        readCounts()
    }

    /// Sets a filter that causes no command, and lets a scan cycle pass without a sighting.
    private mutating func maskFilter() {
        hear()
        pass(SampleRefresher.fastPause)
        #expect(planner.next(now: now) == .refreshScan)
        finish(.refreshScan)
        readCounts(after: Self.timings.proofLimit)
        readCounts(commands: 4, events: 4, after: Self.timings.scanCycle)
        #expect(planner.scan.filterEffect == .masked)
        #expect(planner.next(now: now) == nil)
    }

    /// Sets a filter that restarts the scan, and lets a scan cycle pass without a sighting.
    private mutating func proveFilter() {
        hear()
        pass(SampleRefresher.fastPause)
        #expect(planner.next(now: now) == .refreshScan)
        finish(.refreshScan)
        readCounts(commands: 4, events: 4, after: .milliseconds(100))
        readCounts(commands: 4, events: 4, after: Self.timings.scanCycle)
        #expect(planner.scan.filterEffect == .restarts)
        #expect(planner.next(now: now) == nil)
    }

    /// Expects no action until the kernel gives up the lost command, because a scan start would
    /// fail until then.
    private mutating func expectNothingUntilGivenUp() {
        guard let timeoutAt = planner.controller.commandTimeoutAt else {
            Issue.record("no command was lost")
            return
        }
        #expect(timeoutAt > now && timeoutAt - now <= Self.timings.commandLimit)
        while let due = planner.nextDeadline(now: now), due < timeoutAt {
            #expect(planner.next(now: now) == nil)
            pass(due - now)
        }
        #expect(planner.next(now: now) == nil && planner.nextDeadline(now: now) == timeoutAt)
        pass(timeoutAt - now)
    }

    /// Leaves the command at the end of a scan cycle unanswered.
    private mutating func fallSilent() {
        readCounts(commands: 1, after: .seconds(3))
        #expect(readCounts(after: Self.timings.fastPollInterval) == .stoppedAnswering)
    }

    @discardableResult
    private mutating func readCounts(
        commands: UInt32 = 0,
        events: UInt32 = 0,
        after duration: Duration = .zero
    ) -> ControllerWatch.Change? {
        pass(duration)
        traffic.commands &+= commands
        traffic.events &+= events
        return planner.readCounts(traffic, now: now)
    }

    private mutating func expect(
        _ action: BlueZPlanner.Action,
        _ rung: RecoveryRung,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(planner.next(now: now) == action, sourceLocation: sourceLocation)
        let step = RecoveryStep(rung: rung, reason: .unresponsive)
        #expect(planner.popStep() == step, sourceLocation: sourceLocation)
    }

    private mutating func pass(_ duration: Duration) { now = now + duration }

    private mutating func finish(
        _ action: BlueZPlanner.Action,
        _ result: Result<Void, RadioFailure> = .success(())
    ) {
        planner.finished(action, result, epoch: planner.epoch, now: now)
    }

    private mutating func hear() {
        planner.heard(
            Sighting(
                time: now,
                eid: EID(literal: "0123456789"),
                carrier: .serviceData,
                rssi: RSSI(dBm: -40),
                adapter: "hci0"
            )
        )
    }
}
