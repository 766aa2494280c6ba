import GotchuCore
import Radio

/// The advertisements that are or were requested, the stage of each, and the next to register or
/// unregister. The time is a parameter.
struct AdvertisingPlan: Sendable {
    private var advertisements: [EID: PlannedAdvertisement] = [:]
    /// The failures of new advertisements. Each is kept until its caller reads the outcome.
    private var refusals: [EID: RadioFailure] = [:]
    private let timings: RecoveryTimings

    init(timings: RecoveryTimings) {
        self.timings = timings
    }

    // MARK: Requests

    mutating func requestAdvertising(_ eid: EID) {
        refusals[eid] = nil
        var advertisement =
            advertisements[eid] ?? PlannedAdvertisement(retry: Retry(timings: timings))
        // Unless it is still on the air, the caller waits for a registration again.
        if !advertisement.isRequested, advertisement.stage != .on {
            advertisement.isStartPending = true
        }
        advertisement.isRequested = true
        advertisement.retry = Retry(timings: timings)
        advertisements[eid] = advertisement
    }

    mutating func cancelAdvertising(_ eid: EID) {
        guard let advertisement = advertisements[eid], advertisement.stage != .off else {
            advertisements[eid] = nil
            return
        }
        advertisements[eid]?.isRequested = false
        advertisements[eid]?.isStartPending = false
        advertisements[eid]?.retry = Retry(timings: timings)
    }

    /// Returns the outcome of a requested advertisement; `nil` while it is pending.
    mutating func outcome(of eid: EID) -> Result<Void, RadioFailure>? {
        if let failure = refusals.removeValue(forKey: eid) { return .failure(failure) }
        guard let advertisement = advertisements[eid], advertisement.isRequested else {
            return .failure(RadioFailure(.rejected, underlying: "stopped meanwhile"))
        }
        return advertisement.isStartPending ? nil : .success(())
    }

    /// Refuses a new advertisement that bluetoothd has not registered in time.
    mutating func giveUp(_ eid: EID) {
        guard advertisements[eid]?.isStartPending == true else { return }
        refuse(eid, RadioFailure(.timedOut))
    }

    /// Refuses every new advertisement, because nothing can be registered now.
    mutating func refuseNew(_ failure: RadioFailure) {
        for eid in advertisements.filter(\.value.isStartPending).keys { refuse(eid, failure) }
    }

    /// Stores the failure for the caller. If bluetoothd may have registered the advertisement, it
    /// is removed.
    private mutating func refuse(_ eid: EID, _ failure: RadioFailure) {
        cancelAdvertising(eid)
        refusals[eid] = failure
    }

    // MARK: Events

    /// Handles the loss of bluetoothd or of the connection to it: all registrations are gone.
    mutating func bluetoothdLeft() {
        advertisements = advertisements.filter(\.value.isRequested)
        for eid in advertisements.keys {
            advertisements[eid]?.stage = .off
            advertisements[eid]?.retry = Retry(timings: timings)
        }
    }

    /// Handles a change of adapter, or the adapter being switched on or off. bluetoothd keeps some
    /// registrations while the adapter is off. Those no longer requested are removed when it is on
    /// again.
    mutating func adapterChanged() {
        for (eid, advertisement) in advertisements {
            if advertisement.stage != .off { advertisements[eid]?.stage = .unknown }
            advertisements[eid]?.retry = Retry(timings: timings)
        }
    }

    /// Schedules all advertisements on the air to be registered again.
    ///
    /// - Returns: False if there are no advertisements.
    @discardableResult
    mutating func renew() -> Bool {
        for (eid, advertisement) in advertisements {
            if advertisement.stage == .on { advertisements[eid]?.stage = .unknown }
            advertisements[eid]?.retry = Retry(timings: timings)
        }
        return !advertisements.isEmpty
    }

    /// Handles the release of an advertisement by bluetoothd, without a request of ours.
    mutating func released(_ eid: EID) {
        guard let advertisement = advertisements[eid] else { return }
        switch advertisement.stage {
        case .on, .unknown: markUnregistered(eid)
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
            advertisements[eid]?.isStartPending = false
            advertisements[eid]?.retry = Retry(timings: timings)
        case .failure(let failure):
            let isUnknown =
                failure.code == .timedOut
                || advertisement.stage == .registering(mayAlreadyExist: true)
            advertisements[eid]?.stage = isUnknown ? .unknown : .off
            advertisements[eid]?.retry.failed(now: now, didTimeOut: failure.code == .timedOut)
            if !advertisement.isRequested {
                cancelAdvertising(eid)
            } else if advertisement.isStartPending, !isRetryable {
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
            advertisements[eid]?.stage = .unknown
            advertisements[eid]?.retry.failed(now: now, didTimeOut: failure.code == .timedOut)
        // If the adapter or bluetoothd is gone, so is the advertisement.
        case .success, .failure: markUnregistered(eid)
        }
    }

    private mutating func markUnregistered(_ eid: EID) {
        if advertisements[eid]?.isRequested == true {
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
        if let (eid, _) = due.first(where: { !$0.value.isRequested }) {
            advertisements[eid]?.stage = .unregistering
            return .unregister(eid)
        }
        guard let (eid, advertisement) = due.first else { return nil }
        advertisements[eid]?.stage = .registering(mayAlreadyExist: advertisement.stage == .unknown)
        return .register(eid)
    }

    /// The times at which registrations and removals are due; `nil` for one that is due now. `next`
    /// must be called then.
    var deadlines: [MonotonicTime?] {
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
            case .off, .unknown, .on: false
            }
        }
    }

    /// Returns true if the removal of a cancelled advertisement failed at least this many times in
    /// a row.
    func isStuck(after failures: Int) -> Bool {
        advertisements.values.contains { advertisement in
            !advertisement.isRequested && advertisement.needsAction
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
                case .unknown: !advertisement.isRequested && isPowered
                }
            }.keys
        )
    }
}

/// An advertisement that is or was requested, and its stage.
private struct PlannedAdvertisement: Sendable {
    var isRequested = true
    var stage = Stage.off
    /// A Boolean that is true while a caller waits for it to be on the air. A failure that is not
    /// retried ends the wait.
    var isStartPending = true
    var retry: Retry

    enum Stage: Equatable, Sendable {
        /// bluetoothd does not have it.
        case off
        /// bluetoothd may have it: for example, the adapter went off, or a call timed out.
        case unknown
        /// It is being registered; if it is stopped now, it is removed once the call has ended.
        ///
        /// - Parameter mayAlreadyExist: True if bluetoothd may have an earlier registration.
        case registering(mayAlreadyExist: Bool)
        case on
        case unregistering
    }

    /// A Boolean that is true if it must be registered or removed.
    var needsAction: Bool {
        switch stage {
        case .off: isRequested
        case .unknown: true
        case .on: !isRequested
        case .registering, .unregistering: false
        }
    }
}
