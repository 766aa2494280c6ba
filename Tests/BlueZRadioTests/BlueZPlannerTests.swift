import BlueZ
import DBus
import GotchuCore
import Radio
import TestSupport
import Testing

@testable import BlueZRadio

@Suite struct BlueZPlannerTests {
    private static let eid = EID(literal: "a1b2c3d4e5")
    private static let timings = RecoveryTimings()
    private var planner = BlueZPlanner(adapterName: nil)
    private var now = MonotonicTime(sinceStart: .zero)

    init() {
        planner.wantScan(true)
        planner.linkChanged(.asking(":1.1"))
        planner.adaptersChanged([AdapterState.hci0()], now: now)
    }

    @Test("The first action is the start of the scan, and no other action follows")
    mutating func scanFirst() {
        #expect(planner.next(now: now) == .startScan(isRestart: false))
        finish(.startScan(isRestart: false))
        planner.adaptersChanged([AdapterState.hci0(isDiscovering: true)], now: now)
        #expect(planner.next(now: now) == nil)
        #expect(planner.nextDeadline(now: now) == now + Self.timings.longQuietLimit)
    }

    @Test("A scan that is no longer wanted is stopped, even if the answer to a stop was lost")
    mutating func unwantedScan() {
        finish(.startScan(isRestart: false))
        planner.wantScan(false)
        #expect(planner.next(now: now) == .stopScan && !planner.state.isScanning)
        finish(.stopScan, .failure(RadioFailure(.timedOut)))
        // bluetoothd may still have our session, and resumes its scan when the adapter returns.
        planner.adaptersChanged([AdapterState.hci0(isPowered: false)], now: now)
        planner.adaptersChanged([AdapterState.hci0()], now: now)
        #expect(planner.next(now: now) == .stopScan)
        finish(.stopScan, .failure(RadioFailure(.rejected)))
        now = now + Self.timings.longQuietLimit
        #expect(planner.next(now: now) == nil && planner.state.problem == nil)
        planner.wantScan(true)
        #expect(planner.next(now: now) == .startScan(isRestart: false))
    }

    @Test("An advertisement is registered and unregistered before the scan is started")
    mutating func order() {
        planner.requestAdvertising(Self.eid)
        #expect(planner.next(now: now) == .register(Self.eid))
        finish(.register(Self.eid))
        #expect(planner.outcome(of: Self.eid).map { (try? $0.get()) != nil } == true)
        planner.cancelAdvertising(Self.eid)
        #expect(planner.next(now: now) == .unregister(Self.eid))
        finish(.unregister(Self.eid))
        #expect(!planner.isOnAir(Self.eid))
    }

    @Test("A new advertisement that fails is refused; one that was on the air is retried")
    mutating func failures() {
        planner.requestAdvertising(Self.eid)
        finish(.register(Self.eid), .failure(RadioFailure(.rejected)))
        guard case .failure(let failure) = planner.outcome(of: Self.eid) else {
            Issue.record("not refused")
            return
        }
        #expect(failure.code == .rejected && !planner.isOnAir(Self.eid))
        planner.requestAdvertising(Self.eid)
        finish(.register(Self.eid))
        planner.linkChanged(.noBlueZ)
        planner.linkChanged(.asking(":1.2"))
        planner.adaptersChanged([AdapterState.hci0()], now: now)
        finish(.register(Self.eid), .failure(RadioFailure(.rejected)))
        #expect(planner.next(now: now) == .startScan(isRestart: false))
        now = now + Self.timings.firstPause
        #expect(planner.next(now: now) == .register(Self.eid))
    }

    @Test("An EID that was cancelled while the adapter was off is unregistered when it is on again")
    mutating func cancelledWhileOff() {
        planner.requestAdvertising(Self.eid)
        finish(.register(Self.eid))
        planner.adaptersChanged([AdapterState.hci0(isPowered: false)], now: now)
        planner.cancelAdvertising(Self.eid)
        #expect(!planner.isOnAir(Self.eid), "an adapter that is off sends nothing")
        planner.adaptersChanged([AdapterState.hci0()], now: now)
        #expect(planner.next(now: now) == .unregister(Self.eid))
        finish(.unregister(Self.eid))
        #expect(!planner.isOnAir(Self.eid))
    }

    @Test(
        "An abandoned registration fails with a timeout, and is unregistered if it completes late"
    )
    mutating func givenUp() {
        planner.requestAdvertising(Self.eid)
        #expect(planner.next(now: now) == .register(Self.eid))
        planner.giveUp(Self.eid)
        guard case .failure(let failure) = planner.outcome(of: Self.eid) else {
            Issue.record("the caller that waits got no failure")
            return
        }
        #expect(failure.code == .timedOut)
        finish(.register(Self.eid))
        #expect(planner.next(now: now) == .unregister(Self.eid), "a late registration is removed")
    }

    @Test("The outcome of an action from an earlier epoch is ignored")
    mutating func epochs() {
        planner.requestAdvertising(Self.eid)
        let epoch = planner.epoch
        planner.adaptersChanged([AdapterState.hci0(isPowered: false)], now: now)
        planner.finished(.register(Self.eid), .success(()), epoch: epoch, now: now)
        #expect(planner.state.advertising.isEmpty)
    }

    @Test("A scan that has ended is restarted, unless it starts again within the grace time")
    mutating func ended() {
        finish(.startScan(isRestart: false))
        planner.adaptersChanged([AdapterState.hci0(isDiscovering: true)], now: now)
        planner.adaptersChanged([AdapterState.hci0()], now: now)
        now = now + .seconds(1)
        #expect(planner.next(now: now) == nil)
        planner.adaptersChanged([AdapterState.hci0(isDiscovering: true)], now: now)
        planner.adaptersChanged([AdapterState.hci0()], now: now)
        now = now + Self.timings.discoveringGrace
        #expect(planner.next(now: now) == .startScan(isRestart: true))
        #expect(planner.popStep() == RecoveryStep(rung: .restart, reason: .ended))
    }

    @Test("An advertisement whose removal fails repeatedly is removed by a new connection")
    mutating func stuckAdvertisement() {
        planner.requestAdvertising(Self.eid)
        #expect(planner.next(now: now) == .register(Self.eid))
        finish(.register(Self.eid))
        planner.cancelAdvertising(Self.eid)
        #expect(planner.next(now: now) == .unregister(Self.eid))
        finish(.unregister(Self.eid), .failure(RadioFailure(.timedOut)))
        #expect(planner.state.advertising == [Self.eid], "the EID may still be on the air")
        #expect(planner.next(now: now) == .unregister(Self.eid), "no pause after a timeout")
        for _ in 0..<BlueZPlanner.failureLimit {
            finish(.unregister(Self.eid), .failure(RadioFailure(.rejected)))
            now = now + Self.timings.maximumPause
        }
        #expect(planner.next(now: now) == .reconnect, "the end of the connection removes it")
        #expect(planner.popStep()?.reason == .stuckAdvertisement)
        planner.linkChanged(.connecting)
        #expect(!planner.isOnAir(Self.eid) && planner.state.advertising.isEmpty)
        #expect(planner.state.recovery.rungs[.reconnect] == 1)
        planner.linkChanged(.asking(":1.1"))
        planner.adaptersChanged([AdapterState.hci0()], now: now)
        #expect(planner.next(now: now) == .startScan(isRestart: false))
    }

    @Test("An adapter that was off for a moment advertises and scans again")
    mutating func powerBlink() {
        planner.requestAdvertising(Self.eid)
        #expect(planner.next(now: now) == .register(Self.eid))
        finish(.register(Self.eid))
        #expect(planner.next(now: now) == .startScan(isRestart: false))
        finish(.startScan(isRestart: false))
        planner.adaptersChanged([AdapterState.hci0(isDiscovering: true)], now: now)
        #expect(planner.next(now: now) == nil && planner.state.isScanning)
        var adapter = AdapterState.hci0()
        adapter.powerToggleCount += 1
        planner.adaptersChanged([adapter], now: now)
        #expect(planner.state.advertising.isEmpty && !planner.state.isScanning)
        #expect(planner.next(now: now) == .register(Self.eid))
        finish(.register(Self.eid))
        #expect(planner.next(now: now) == .startScan(isRestart: true))
    }

    @Test("A registration that timed out is removed before it is repeated")
    mutating func unclearRegistration() {
        planner.requestAdvertising(Self.eid)
        #expect(planner.next(now: now) == .register(Self.eid))
        finish(.register(Self.eid), .failure(RadioFailure(.timedOut)))
        #expect(planner.outcome(of: Self.eid) != nil)
        #expect(planner.next(now: now) == .unregister(Self.eid))
        planner.requestAdvertising(Self.eid)
        finish(.unregister(Self.eid))
        #expect(planner.next(now: now) == .register(Self.eid), "the EID is wanted again")
        #expect(planner.outcome(of: Self.eid) == nil, "the second registration has not finished")
    }

    @Test("A scan is refreshed only when samples become rare")
    mutating func flow() {
        finish(.startScan(isRestart: false))
        planner.adaptersChanged([AdapterState.hci0(isDiscovering: true)], now: now)
        for _ in 0..<100 {
            now = now + .milliseconds(110)
            hear(-40)
            #expect(planner.next(now: now) == nil)
        }
        #expect(planner.nextDeadline(now: now) == now + SampleRefresher.slowPause)
        // The controller begins to filter duplicates: the samples become rare.
        now = now + SampleRefresher.flowWindow
        hear(-40)
        for _ in 0..<20 {
            now = now + SampleRefresher.flowWindow
            hear(-40)
        }
        now = now + SampleRefresher.fastPause
        #expect(planner.next(now: now) == .refreshScan)
    }

    @Test(
        "A scan whose samples come only after a refresh is refreshed while its candidate is recent"
    )
    mutating func samples() {
        finish(.startScan(isRestart: false))
        planner.adaptersChanged([AdapterState.hci0(isDiscovering: true)], now: now)
        for _ in 0..<100 {
            now = now + .milliseconds(10)
            hear(-40)
            #expect(planner.next(now: now) == nil)
            now = now + SampleRefresher.fastPause
            #expect(planner.next(now: now) == .refreshScan)
            finish(.refreshScan)
        }
        #expect(planner.next(now: now) == nil)
        let lastHeard = now + (.zero - SampleRefresher.fastPause)
        now = now + SampleRefresher.candidateLifetime
        #expect(planner.next(now: now) == nil)
        #expect(planner.nextDeadline(now: now) == lastHeard + Self.timings.longQuietLimit)
    }

    @Test("A far candidate with a constant level is sampled less often than an approaching one")
    mutating func far() {
        finish(.startScan(isRestart: false))
        planner.adaptersChanged([AdapterState.hci0(isDiscovering: true)], now: now)
        for _ in 0..<6 {
            hear(-85)
            now = now + .seconds(1)
        }
        hear(-85)
        #expect(planner.nextDeadline(now: now) == now + SampleRefresher.slowPause)
        hear(-70)
        #expect(planner.nextDeadline(now: now) == now + SampleRefresher.fastPause)
    }

    @Test(
        "After random events and outcomes, successful actions lead to the wanted state",
        arguments: 0..<50
    )
    mutating func storm(_ round: Int) {
        var random = SeededGenerator("planner storm \(round)")
        let eids = (0..<4).map { _ in EID.random(using: &random) }
        var wanted: Set<EID> = []
        for _ in 0..<400 {
            now = now + .milliseconds(Int.random(in: 0...500, using: &random))
            guard let eid = eids.randomElement(using: &random) else { return }
            switch Int.random(in: 0..<7, using: &random) {
            case 0:
                planner.requestAdvertising(eid)
                wanted.insert(eid)
            case 1:
                planner.cancelAdvertising(eid)
                wanted.remove(eid)
            case 2: planner.linkChanged(.noBlueZ)
            case 3: planner.adaptersChanged([], now: now)
            case 4: planner.released(eid)
            case 5:
                planner.adaptersChanged(
                    [AdapterState.hci0(isPowered: .random(using: &random))],
                    now: now
                )
            default:
                guard let action = planner.next(now: now) else { continue }
                let failure =
                    [nil, nil, RadioFailure.Code.rejected, .timedOut]
                    .randomElement(using: &random) ?? nil
                finish(action, failure.map { .failure(RadioFailure($0)) } ?? .success(()))
                if action == .reconnect {
                    planner.linkChanged(.connecting)
                    planner.linkChanged(.asking(":1.1"))
                    planner.adaptersChanged([AdapterState.hci0()], now: now)
                }
            }
            for eid in eids {
                if case .failure = planner.outcome(of: eid) { wanted.remove(eid) }
            }
        }
        planner.adaptersChanged([AdapterState.hci0(isDiscovering: true)], now: now)
        for _ in 0..<50 {
            now = now + Self.timings.maximumPause
            guard let action = planner.next(now: now) else { break }
            finish(action)
            if action == .reconnect { planner.linkChanged(.asking(":1.2")) }
            planner.adaptersChanged([AdapterState.hci0(isDiscovering: true)], now: now)
        }
        #expect(planner.state.advertising == wanted && planner.state.isScanning)
    }

    private mutating func finish(
        _ action: BlueZPlanner.Action,
        _ result: Result<Void, RadioFailure> = .success(())
    ) {
        planner.finished(action, result, epoch: planner.epoch, now: now)
    }

    private mutating func hear(_ level: Int) {
        planner.heard(
            Sighting(
                time: now,
                eid: Self.eid,
                carrier: .serviceData,
                rssi: RSSI(dBm: level),
                adapter: "hci0"
            )
        )
    }
}
