import GotchuCore
import Radio

/// The advertisements that are or were wanted, the stage of each, and the next to register or
/// unregister. Reads no clock.
struct AdvertisingPlan: Sendable {
    private var advertisements: [EID: PlannedAdvertisement] = [:]
    /// The failures of new advertisements. Each is kept until its caller reads the outcome.
    private var refusals: [EID: RadioFailure] = [:]
    private let timings: RecoveryTimings

    init(timings: RecoveryTimings) {
        self.timings = timings
    }

    // MARK: Requests

    mutating func want(_ eid: EID) {
        refusals[eid] = nil
        var advertisement =
            advertisements[eid] ?? PlannedAdvertisement(retry: Retry(timings: timings))
        // An advertisement that is being removed must be registered again.
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

    /// Returns the outcome of a wanted advertisement; `nil` while it is pending.
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

    /// Refuses every new advertisement, because nothing can be registered now.
    mutating func refuseNew(_ failure: RadioFailure) {
        for eid in advertisements.filter(\.value.isNew).keys { refuse(eid, failure) }
    }

    /// Stores the failure for the caller. If bluetoothd may have registered the advertisement, it
    /// is removed.
    private mutating func refuse(_ eid: EID, _ failure: RadioFailure) {
        unwant(eid)
        refusals[eid] = failure
    }

    // MARK: Events

    /// Handles the loss of bluetoothd or of the connection to it: all registrations are gone.
    mutating func bluetoothdLeft() {
        advertisements = advertisements.filter(\.value.isWanted)
        for eid in advertisements.keys {
            advertisements[eid]?.stage = .off
            advertisements[eid]?.retry = Retry(timings: timings)
        }
    }

    /// Handles a change of adapter, or the adapter being switched on or off. bluetoothd keeps some
    /// registrations while the adapter is off. Those no longer wanted are removed when it is on
    /// again.
    mutating func adapterChanged() {
        for (eid, advertisement) in advertisements {
            if advertisement.stage != .off { advertisements[eid]?.stage = .unclear }
            advertisements[eid]?.retry = Retry(timings: timings)
        }
    }

    /// Handles a controller that answers again: it is unknown which advertisements it still sends.
    mutating func controllerAnswered() { renew() }

    /// Schedules all advertisements on the air to be registered again.
    ///
    /// - Returns: False if there are no advertisements.
    @discardableResult
    mutating func renew() -> Bool {
        for (eid, advertisement) in advertisements {
            if advertisement.stage == .on { advertisements[eid]?.stage = .unclear }
            advertisements[eid]?.retry = Retry(timings: timings)
        }
        return !advertisements.isEmpty
    }

    /// Handles the release of an advertisement by bluetoothd, without a request of ours.
    mutating func released(_ eid: EID) {
        guard let advertisement = advertisements[eid] else { return }
        switch advertisement.stage {
        case .on, .unclear: wentOff(eid)
        // The reply to our own call decides.
        case .off, .registering, .unregistering: break
        }
    }

    /// - Parameter isRetryable: True if a failure may be due to a controller that is briefly
    ///   unresponsive: a new advertisement is then retried.
    mutating func registered(
        _ eid: EID,
        _ result: Result<Void, RadioFailure>,
        isRetryable: Bool,
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
            advertisements[eid]?.retry.failed(now: now, didTimeOut: failure.code == .timedOut)
            if !advertisement.isWanted {
                unwant(eid)
            } else if advertisement.isNew, !isRetryable {
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
            // It may still be on the air and must be removed.
            advertisements[eid]?.stage = .unclear
            advertisements[eid]?.retry.failed(now: now, didTimeOut: failure.code == .timedOut)
        // If the adapter or bluetoothd is gone, so is the advertisement.
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

    // MARK: Actions

    /// Returns the next registration or removal that is due. Removals come first, because they make
    /// room.
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

    /// The times at which pending registrations and removals are due; `next` must be called then.
    var wakes: [MonotonicTime?] {
        advertisements.values.filter(\.needsAction).map(\.retry.due)
    }

    // MARK: State

    func contains(_ eid: EID) -> Bool { advertisements[eid] != nil }

    /// A Boolean that is true while a registration or removal is in progress, which sends commands
    /// to the controller.
    var isChanging: Bool {
        advertisements.values.contains { advertisement in
            switch advertisement.stage {
            case .registering, .unregistering: true
            case .off, .unclear, .on: false
            }
        }
    }

    /// Returns true if the removal of an unwanted advertisement failed at least this many times in
    /// a row.
    func isStuck(after failures: Int) -> Bool {
        advertisements.values.contains { advertisement in
            !advertisement.isWanted && advertisement.needsAction
                && advertisement.retry.failures >= failures
        }
    }

    /// Returns the EIDs on the air, including those that could not be removed.
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

/// An advertisement that is or was wanted, and its stage.
private struct PlannedAdvertisement: Sendable {
    var isWanted = true
    var stage = Stage.off
    /// A Boolean that is true while a caller waits for it to be on the air for the first time. A
    /// failure that is not retried ends the wait.
    var isNew = true
    var retry: Retry

    enum Stage: Equatable, Sendable {
        /// bluetoothd does not have it.
        case off
        /// bluetoothd may have it: for example, the adapter went off, or a call timed out.
        case unclear
        /// It is being registered; if it is stopped now, it is removed once the call has ended.
        ///
        /// - Parameter isAgain: True if bluetoothd may have an earlier registration.
        case registering(isAgain: Bool)
        case on
        case unregistering
    }

    /// A Boolean that is true if it must be registered or removed.
    var needsAction: Bool {
        switch stage {
        case .off: isWanted
        case .unclear: true
        case .on: !isWanted
        case .registering, .unregistering: false
        }
    }
}
