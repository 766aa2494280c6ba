import BlueZ
import GotchuCore

/// What is wanted of BlueZ, what it does, and what to do next about the difference.
///
/// Pure: events and the time go in, actions come out one after the other. An action of an earlier
/// `epoch` (before bluetoothd or the adapter went away) changes nothing any more.
struct BlueZPlanner: Sendable {
    enum Action: Equatable, Sendable {
        /// Set the filter and start discovery; `isRestart` if it may run already in some state.
        case startScan(isRestart: Bool)
        /// Set another filter, which restarts the scan and so gives fresh samples.
        case refreshScan
        case register(EID)
        case unregister(EID)
    }

    /// How far the way to bluetoothd is.
    enum Link: Equatable, Sendable {
        case connecting
        case noBus(String?)
        case noBlueZ
        /// bluetoothd runs under this unique name, its objects are not known yet.
        case asking(String?)
        case up
    }

    private struct Advertisement {
        var isWanted = true
        var isRegistered = false
        /// The registration is under way; what is stopped now is taken off when it is through.
        var isRegistering = false
        /// bluetoothd may still have it from before the adapter went off.
        var mayRemain = false
        /// Someone waits for it to be on the air for the first time; a failure ends it.
        var isNew = true
        var retry = Retry()
    }

    private enum Scan: Equatable {
        case off(isRestart: Bool)
        case on
    }

    private(set) var link = Link.connecting
    private(set) var epoch = 0
    private(set) var adapter: AdapterState?
    private let adapterName: String?
    private var advertisements: [EID: Advertisement] = [:]
    /// Why a new advertisement did not come to be; taken by whoever waits.
    private var refusals: [EID: RadioFailure] = [:]
    private var scan = Scan.off(isRestart: false)
    private var scanRetry = Retry()
    private var scanFailure: RadioFailure?
    /// Since when `Discovering` is false although we scan.
    private var silentSince: MonotonicTime?
    private var refresher = SampleRefresher()

    /// `Discovering` is false for a moment whenever a scan restarts; longer means that it has
    /// ended.
    static let discoveringGrace: Duration = .milliseconds(1500)

    /// - Parameter adapterName: `hci0`; `nil` for the first that is powered.
    init(adapterName: String?) {
        self.adapterName = adapterName
    }

    // MARK: What is wanted

    mutating func want(_ eid: EID) {
        refusals[eid] = nil
        advertisements[eid, default: Advertisement()].isWanted = true
        refuseNewIfHopeless()
    }

    mutating func unwant(_ eid: EID) {
        guard let advertisement = advertisements[eid],
            advertisement.isRegistered || advertisement.isRegistering || advertisement.mayRemain
        else {
            advertisements[eid] = nil
            return
        }
        advertisements[eid]?.isWanted = false
        if !advertisement.isRegistering { advertisements[eid]?.isRegistered = true }
    }

    /// What became of a wanted advertisement; `nil` while it is under way.
    mutating func outcome(of eid: EID) -> Result<Void, RadioFailure>? {
        if let failure = refusals.removeValue(forKey: eid) { return .failure(failure) }
        guard let advertisement = advertisements[eid] else {
            return .failure(RadioFailure(.rejected, underlying: "stopped meanwhile"))
        }
        return advertisement.isNew ? nil : .success(())
    }

    /// Nobody waits any longer for a new advertisement: bluetoothd has had its time.
    mutating func giveUp(_ eid: EID) {
        guard let advertisement = advertisements[eid], advertisement.isNew else { return }
        refusals[eid] = RadioFailure(.timedOut)
        // What is under way is taken off again when it is through.
        if advertisement.isRegistering { unwant(eid) } else { advertisements[eid] = nil }
    }

    /// Whether an advertisement may still be on the air, or come there by itself.
    func isOnAir(_ eid: EID) -> Bool {
        advertisements[eid] != nil && link == .up && adapter?.isPowered == true
    }

    // MARK: What happens

    mutating func linkChanged(_ link: Link) {
        guard self.link != link else { return }
        self.link = link
        adapter = nil
        // With the connection or bluetoothd went all that it had.
        advertisements = advertisements.filter(\.value.isWanted)
        startAfresh()
        for eid in advertisements.keys { advertisements[eid]?.mayRemain = false }
        refuseNewIfHopeless()
    }

    mutating func adaptersChanged(_ adapters: [AdapterState], now: MonotonicTime) {
        link = .up
        let before = adapter
        adapter = choose(from: adapters)
        if before?.path != adapter?.path || before?.isPowered != adapter?.isPowered
            || before?.canAdvertise != adapter?.canAdvertise
        {
            startAfresh()
        }
        let isSilent = scan == .on && adapter?.isDiscovering == false
        silentSince = isSilent ? (silentSince ?? now) : nil
        refuseNewIfHopeless()
    }

    mutating func heard(_ sighting: Sighting) {
        guard advertisements[sighting.eid] == nil else { return }
        refresher.heard(sighting)
    }

    /// bluetoothd has let go of an advertisement by itself.
    mutating func released(_ eid: EID) {
        advertisements[eid]?.isRegistered = false
        if advertisements[eid]?.isWanted == false { advertisements[eid] = nil }
    }

    mutating func finished(
        _ action: Action,
        _ result: Result<Void, RadioFailure>,
        epoch: Int,
        now: MonotonicTime
    ) {
        guard epoch == self.epoch else { return }
        switch action {
        case .startScan: scanFinished(result, now: now)
        case .refreshScan:
            refresher.restarted(now: now)
            if case .failure = result { scan = .off(isRestart: true) }
        case .register(let eid): registerFinished(eid, result, now: now)
        // If bluetoothd fails to take it off, the connection's end will; there is nothing else to
        // try.
        case .unregister(let eid): advertisements[eid] = nil
        }
    }

    // MARK: What to do

    /// The next thing to do now; `nil` if there is none before `nextDeadline`.
    mutating func next(now: MonotonicTime) -> Action? {
        guard link == .up, let adapter, adapter.isPowered else { return nil }
        if adapter.canAdvertise, let action = nextAdvertising(now: now) { return action }
        if let silentSince, now - silentSince >= Self.discoveringGrace {
            self.silentSince = nil
            scan = .off(isRestart: true)
        }
        switch scan {
        case .off(let isRestart):
            return scanRetry.isDue(now: now) ? .startScan(isRestart: isRestart) : nil
        case .on:
            guard let restart = refresher.nextRestart(now: now), restart <= now else { return nil }
            return .refreshScan
        }
    }

    /// When `next` may have something to do although nothing happened.
    func nextDeadline(now: MonotonicTime) -> MonotonicTime? {
        guard link == .up, adapter?.isPowered == true else { return nil }
        var deadlines = advertisements.values.filter { !$0.isRegistered }.map(\.retry.due)
        if scan == .on {
            deadlines.append(silentSince.map { $0 + Self.discoveringGrace })
            deadlines.append(refresher.nextRestart(now: now))
        } else {
            deadlines.append(scanRetry.due)
        }
        return deadlines.compactMap { $0 }.min()
    }

    var state: RadioState {
        var state = RadioState(adapter: adapter?.name, problem: problem)
        state.address = adapter?.address
        state.bluezVersion = adapter?.version?.description
        state.isScanning = scan == .on
        state.advertising = Set(advertisements.filter { $0.value.isRegistered }.keys)
        return state
    }

    private var problem: RadioFailure? {
        switch link {
        case .connecting, .asking: nil
        case .noBus(let underlying): RadioFailure(.noBus, underlying: underlying)
        case .noBlueZ: RadioFailure(.noBlueZ)
        case .up:
            if let adapter {
                adapter.isPowered ? scanFailure : RadioFailure(.adapterOff)
            } else {
                RadioFailure(.noAdapter)
            }
        }
    }
}

// MARK: -

extension BlueZPlanner {
    private func choose(from adapters: [AdapterState]) -> AdapterState? {
        if let adapterName { return adapters.first { $0.name == adapterName } }
        let current = adapters.first { $0.path == adapter?.path && $0.isPowered }
        return current ?? adapters.first(where: \.isPowered) ?? adapters.first
    }

    /// Nothing that was registered or started is any more. bluetoothd keeps some of it while an
    /// adapter is off, which `register` and `startScan(isRestart:)` tolerate; what is not wanted
    /// any more is still taken off when the adapter is back.
    private mutating func startAfresh() {
        epoch += 1
        for (eid, advertisement) in advertisements {
            if advertisement.isRegistered || advertisement.isRegistering {
                advertisements[eid]?.mayRemain = true
            }
            advertisements[eid]?.isRegistered = !advertisement.isWanted
            advertisements[eid]?.isRegistering = false
            advertisements[eid]?.retry = Retry()
        }
        scan = .off(isRestart: scan == .on)
        scanRetry = Retry()
        scanFailure = nil
        silentSince = nil
        refresher.reset()
    }

    /// Whoever wants something new on the air is told at once when it cannot be.
    private mutating func refuseNewIfHopeless() {
        guard let problem, problem != scanFailure else { return }
        for eid in advertisements.filter(\.value.isNew).keys { refuse(eid, problem) }
    }

    private mutating func refuse(_ eid: EID, _ failure: RadioFailure) {
        advertisements[eid] = nil
        refusals[eid] = failure
    }

    private mutating func scanFinished(
        _ result: Result<Void, RadioFailure>,
        now: MonotonicTime
    ) {
        switch result {
        case .success:
            scan = .on
            scanRetry = Retry()
            scanFailure = nil
            silentSince = adapter?.isDiscovering == false ? now : nil
        case .failure(let failure):
            scan = .off(isRestart: true)
            scanRetry.failed(now: now)
            scanFailure = failure
        }
    }

    private mutating func registerFinished(
        _ eid: EID,
        _ result: Result<Void, RadioFailure>,
        now: MonotonicTime
    ) {
        guard let advertisement = advertisements[eid] else { return }
        advertisements[eid]?.isRegistering = false
        switch result {
        case .success:
            advertisements[eid]?.isRegistered = true
            advertisements[eid]?.mayRemain = false
            advertisements[eid]?.isNew = false
            advertisements[eid]?.retry = Retry()
        case .failure where !advertisement.isWanted: advertisements[eid] = nil
        case .failure(let failure) where advertisement.isNew: refuse(eid, failure)
        case .failure: advertisements[eid]?.retry.failed(now: now)
        }
    }

    /// Off the air first: that makes room.
    private mutating func nextAdvertising(now: MonotonicTime) -> Action? {
        let order = advertisements.sorted { $0.key < $1.key }
        if let (eid, _) = order.first(where: { !$0.value.isWanted && $0.value.isRegistered }) {
            return .unregister(eid)
        }
        let due = order.first { !$0.value.isRegistered && $0.value.retry.isDue(now: now) }
        guard let (eid, _) = due else { return nil }
        advertisements[eid]?.isRegistering = true
        return .register(eid)
    }
}

/// When something that failed is tried again: after 250 ms, doubling to 2 s, for as long as it is
/// wanted.
struct Retry: Equatable, Sendable {
    static let firstPause: Duration = .milliseconds(250)
    static let longestPause: Duration = .seconds(2)

    private var pause = firstPause
    private(set) var due: MonotonicTime?

    func isDue(now: MonotonicTime) -> Bool { due.map { $0 <= now } ?? true }

    mutating func failed(now: MonotonicTime) {
        due = now + pause
        pause = min(pause * 2, Self.longestPause)
    }
}
