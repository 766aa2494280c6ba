import BlueZ
import GotchuCore

extension BlueZPlanner {
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
        refuseNewIfHopeless()
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

    /// What became of a wanted advertisement; `nil` while it is under way.
    mutating func outcome(of eid: EID) -> Result<Void, RadioFailure>? {
        if let failure = refusals.removeValue(forKey: eid) { return .failure(failure) }
        guard let advertisement = advertisements[eid], advertisement.isWanted else {
            return .failure(RadioFailure(.rejected, underlying: "stopped meanwhile"))
        }
        return advertisement.isNew ? nil : .success(())
    }

    /// Nobody waits any longer for a new advertisement: bluetoothd has had its time.
    mutating func giveUp(_ eid: EID) {
        guard advertisements[eid]?.isNew == true else { return }
        refuse(eid, RadioFailure(.timedOut))
    }

    /// Whether an advertisement may still be on the air, or come there by itself.
    func isOnAir(_ eid: EID) -> Bool {
        advertisements[eid] != nil && link == .up && adapter?.isPowered == true
    }

    /// bluetoothd has let go of an advertisement by itself.
    mutating func released(_ eid: EID) {
        guard let advertisement = advertisements[eid] else { return }
        switch advertisement.stage {
        case .on, .unclear:
            if advertisement.isWanted {
                advertisements[eid]?.stage = .off
            } else {
                advertisements[eid] = nil
            }
        // The answer to our own call decides.
        case .off, .registering, .unregistering: break
        }
    }

    // MARK: What to do, and what came of it

    /// Off the air first: that makes room.
    mutating func nextAdvertising(now: MonotonicTime) -> Action? {
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

    mutating func registerFinished(
        _ eid: EID,
        _ result: Result<Void, RadioFailure>,
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
            } else if advertisement.isNew, !controller.excuses(now: now) {
                refuse(eid, failure)
            }
        }
    }

    mutating func unregisterFinished(
        _ eid: EID,
        _ result: Result<Void, RadioFailure>,
        now: MonotonicTime
    ) {
        guard let advertisement = advertisements[eid] else { return }
        switch result {
        case .failure(let failure) where failure.code != .noBlueZ:
            // It may be on the air, where it must not stay.
            advertisements[eid]?.stage = .unclear
            advertisements[eid]?.retry.failed(now: now, wasSlow: failure.code == .timedOut)
        // With the object that had it, it is gone as well.
        case .success, .failure:
            if advertisement.isWanted {
                advertisements[eid]?.stage = .off
            } else {
                advertisements[eid] = nil
            }
        }
    }

    /// Tells whoever waits; what bluetoothd may have is taken off again.
    mutating func refuse(_ eid: EID, _ failure: RadioFailure) {
        unwant(eid)
        refusals[eid] = failure
    }
}
