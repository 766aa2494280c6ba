import GotchuCore
import Radio

/// The advertisements that are or were wanted, how far each has come, and the next to register or
/// unregister: pure.
struct AdvertisingPlan: Sendable {
    private var advertisements: [EID: PlannedAdvertisement] = [:]
    /// The reasons why new advertisements did not come to be, until their callers ask.
    private var refusals: [EID: RadioFailure] = [:]
    private let timings: RecoveryTimings

    init(timings: RecoveryTimings) {
        self.timings = timings
    }

    // MARK: What is wanted

    mutating func want(_ eid: EID) {
        refusals[eid] = nil
        var advertisement =
            advertisements[eid] ?? PlannedAdvertisement(retry: Retry(timings: timings))
        // One that is on its way off has to come on the air anew.
        if !advertisement.isWanted, advertisement.stage != .on { advertisement.isNew = true }
        advertisement.isWanted = true
        advertisement.retry = Retry(timings: timings)
        advertisements[eid] = advertisement
    }

    mutating func unwant(_ eid: EID) {
        guard let advertisement = advertisements[eid], advertisement.stage != .off else {
            advertisements[eid] = nil
            return
        }
        advertisements[eid]?.isWanted = false
        advertisements[eid]?.isNew = false
        advertisements[eid]?.retry = Retry(timings: timings)
    }

    /// The outcome for a wanted advertisement; `nil` while it is under way.
    mutating func outcome(of eid: EID) -> Result<Void, RadioFailure>? {
        if let failure = refusals.removeValue(forKey: eid) { return .failure(failure) }
        guard let advertisement = advertisements[eid], advertisement.isWanted else {
            return .failure(RadioFailure(.rejected, underlying: "stopped meanwhile"))
        }
        return advertisement.isNew ? nil : .success(())
    }

    /// Refuses a new advertisement that bluetoothd has not registered in time.
    mutating func giveUp(_ eid: EID) {
        guard advertisements[eid]?.isNew == true else { return }
        refuse(eid, RadioFailure(.timedOut))
    }

    /// Refuses every new advertisement: nothing can be registered now.
    mutating func refuseNew(_ failure: RadioFailure) {
        for eid in advertisements.filter(\.value.isNew).keys { refuse(eid, failure) }
    }

    /// Tells the caller; what bluetoothd may have is taken off again.
    private mutating func refuse(_ eid: EID, _ failure: RadioFailure) {
        unwant(eid)
        refusals[eid] = failure
    }

    // MARK: What happens

    /// bluetoothd went away, or the connection to it, and with it all that it had.
    mutating func bluetoothdLeft() {
        advertisements = advertisements.filter(\.value.isWanted)
        for eid in advertisements.keys {
            advertisements[eid]?.stage = .off
            advertisements[eid]?.retry = Retry(timings: timings)
        }
    }

    /// The adapter is another, or was off. bluetoothd keeps some registrations while it is off;
    /// those no longer wanted are still taken off when it is back.
    mutating func adapterChanged() {
        for (eid, advertisement) in advertisements {
            if advertisement.stage != .off { advertisements[eid]?.stage = .unclear }
            advertisements[eid]?.retry = Retry(timings: timings)
        }
    }

    /// The controller answers again; what it still sends of what it sent is not known.
    mutating func controllerAnswered() { renew() }

    /// Has everything that is on the air registered again.
    ///
    /// - Returns: False if there is nothing to register or unregister.
    @discardableResult
    mutating func renew() -> Bool {
        for (eid, advertisement) in advertisements {
            if advertisement.stage == .on { advertisements[eid]?.stage = .unclear }
            advertisements[eid]?.retry = Retry(timings: timings)
        }
        return !advertisements.isEmpty
    }

    /// bluetoothd has released an advertisement unasked.
    mutating func released(_ eid: EID) {
        guard let advertisement = advertisements[eid] else { return }
        switch advertisement.stage {
        case .on, .unclear: wentOff(eid)
        // The answer to our own call decides.
        case .off, .registering, .unregistering: break
        }
    }

    /// - Parameter isExcused: True if a failure may be that of a controller which does not answer
    ///   for a moment: then a new advertisement is tried again.
    mutating func registered(
        _ eid: EID,
        _ result: Result<Void, RadioFailure>,
        isExcused: Bool,
        now: MonotonicTime
    ) {
        guard let advertisement = advertisements[eid] else { return }
        switch result {
        case .success:
            advertisements[eid]?.stage = .on
            advertisements[eid]?.isNew = false
            advertisements[eid]?.retry = Retry(timings: timings)
        case .failure(let failure):
            let isUnclear =
                failure.code == .timedOut || advertisement.stage == .registering(isAgain: true)
            advertisements[eid]?.stage = isUnclear ? .unclear : .off
            advertisements[eid]?.retry.failed(now: now, wasSlow: failure.code == .timedOut)
            if !advertisement.isWanted {
                unwant(eid)
            } else if advertisement.isNew, !isExcused {
                refuse(eid, failure)
            }
        }
    }

    mutating func unregistered(
        _ eid: EID,
        _ result: Result<Void, RadioFailure>,
        now: MonotonicTime
    ) {
        guard advertisements[eid] != nil else { return }
        switch result {
        case .failure(let failure) where failure.code != .noBlueZ:
            // It may be on the air, where it must not stay.
            advertisements[eid]?.stage = .unclear
            advertisements[eid]?.retry.failed(now: now, wasSlow: failure.code == .timedOut)
        // With the object that had it, it is gone as well.
        case .success, .failure: wentOff(eid)
        }
    }

    private mutating func wentOff(_ eid: EID) {
        if advertisements[eid]?.isWanted == true {
            advertisements[eid]?.stage = .off
        } else {
            advertisements[eid] = nil
        }
    }

    // MARK: What to do

    /// The next registration or removal that is due. Removals come first: they make room.
    mutating func next(now: MonotonicTime) -> BlueZPlanner.Action? {
        let due = advertisements.filter { $0.value.needsAction && $0.value.retry.isDue(now: now) }
            .sorted { $0.key < $1.key }
        if let (eid, _) = due.first(where: { !$0.value.isWanted }) {
            advertisements[eid]?.stage = .unregistering
            return .unregister(eid)
        }
        guard let (eid, advertisement) = due.first else { return nil }
        advertisements[eid]?.stage = .registering(isAgain: advertisement.stage == .unclear)
        return .register(eid)
    }

    /// The times at which `next` may have something to do although nothing happened.
    var wakes: [MonotonicTime?] {
        advertisements.values.filter(\.needsAction).map(\.retry.due)
    }

    // MARK: What there is

    func contains(_ eid: EID) -> Bool { advertisements[eid] != nil }

    /// A Boolean that is true while a registration or removal is under way, which takes commands to
    /// the controller.
    var isChanging: Bool {
        advertisements.values.contains { advertisement in
            switch advertisement.stage {
            case .registering, .unregistering: true
            case .off, .unclear, .on: false
            }
        }
    }

    /// Tells whether an advertisement that must go could not be taken off so many times in a row.
    func isStuck(after failures: Int) -> Bool {
        advertisements.values.contains { advertisement in
            !advertisement.isWanted && advertisement.needsAction
                && advertisement.retry.failures >= failures
        }
    }

    /// The EIDs on the air, those included that could not be taken off.
    func onAir(isPowered: Bool) -> Set<EID> {
        Set(
            advertisements.filter { _, advertisement in
                switch advertisement.stage {
                case .off, .registering: false
                case .on, .unregistering: true
                case .unclear: !advertisement.isWanted && isPowered
                }
            }.keys
        )
    }
}

/// One advertisement that is or was wanted, and how far it has come.
private struct PlannedAdvertisement: Sendable {
    var isWanted = true
    var stage = Stage.off
    /// A Boolean that is true while a caller waits for it to be on the air for the first time; a
    /// failure ends it.
    var isNew = true
    var retry: Retry

    enum Stage: Equatable, Sendable {
        /// bluetoothd does not have it.
        case off
        /// bluetoothd may have it: from before the adapter went off, or because it did not answer.
        case unclear
        /// On its way there; what is stopped now is taken off when it is through.
        ///
        /// - Parameter isAgain: bluetoothd may have an earlier one.
        case registering(isAgain: Bool)
        case on
        case unregistering
    }

    /// A Boolean that is true if something has to be done that makes it what it should be.
    var needsAction: Bool {
        switch stage {
        case .off: isWanted
        case .unclear: true
        case .on: !isWanted
        case .registering, .unregistering: false
        }
    }
}
