import GotchuCore
import Logging
import Radio
import ServiceLifecycle

/// The advertising of open requests: all at once if the adapter has enough slots, otherwise in
/// turns.
///
/// Only one task at a time changes the advertisements. The adapter's slots are then counted
/// correctly.
extension RequestService {
    /// Applies a state of the radio. Returns at once. `runAirSchedule` makes the necessary changes.
    func apply(radio state: RadioState) {
        for id in air.apply(advertised: state.advertising) { publishAirChange(of: id) }
        guard air.reportedCapacity != state.advertisingCapacity else { return }
        air.reportedCapacity = state.advertisingCapacity
        air.retryAt = .now
        air.waitTask?.cancel()
        airWake.yield()
    }

    /// Makes the scheduled changes: turns of requests that do not fit on the air together, and
    /// retries.
    func runAirSchedule() async {
        for await _ in airWakes.cancelOnGracefulShutdown() {
            while let due = air.nextChange, !Task.isCancelledOrShuttingDown {
                await waitForNextChange(until: due)
                await air.lock.lock()
                await reconcileAdvertisements()
                air.lock.unlock()
            }
        }
    }

    /// Waits for the end of a turn or for a retry. A change of the adapter's capacity ends the
    /// wait.
    private func waitForNextChange(until due: MonotonicTime) async {
        // SAFETY: owned by this function, which waits for its end.
        let pause = Task {
            // A turn's end and a retry are due at a time. No event reports them.
            _ = try? await Task.sleep(for: max(.zero, due - .now))
        }
        air.waitTask = pause
        await withTaskCancellationHandler {
            await pause.value
        } onCancel: {
            pause.cancel()
        }
        air.waitTask = nil
    }

    /// Puts a request on the air. Returns once it is advertised.
    func bringOnAir(_ id: SessionID, _ eid: EID) async throws(RadioFailure) {
        await air.lock.lock()
        defer { air.lock.unlock() }
        air.add(id, eid, at: .now)
        do throws(RadioFailure) {
            try await startAdvertising(id, eid)
        } catch {
            air.remove(id)
            await reconcileAdvertisements()
            throw error
        }
        await reconcileAdvertisements()
    }

    /// Puts a request on the air at once, or as soon as the radio can. The request stays there
    /// until it is taken off.
    func wantOnAir(_ id: SessionID, _ eid: EID) async {
        await air.lock.lock()
        defer { air.lock.unlock() }
        air.add(id, eid, at: .now)
        await reconcileAdvertisements()
    }

    /// Takes a request off the air. Returns when it is off.
    func takeOffAir(_ id: SessionID) async {
        guard air.targets[id] != nil || air.onAir[id] != nil else { return }
        await air.lock.lock()
        defer { air.lock.unlock() }
        air.remove(id)
        await reconcileAdvertisements()
    }

    /// Changes the EID of a request on the air. If there is a slot for both EIDs, the new one
    /// starts before the old one stops.
    func replaceOnAir(_ id: SessionID, by eid: EID) async {
        await air.lock.lock()
        defer { air.lock.unlock() }
        guard air.targets[id] != nil else { return }
        air.targets[id] = eid
        await reconcileAdvertisements()
    }

    /// Starts and stops advertisements until those on the air are the wanted ones.
    private func reconcileAdvertisements() async {
        let isRetry = air.retryAt != nil
        air.retryAt = nil
        let wanted = air.wanted(at: .now)
        await stopAdvertising(except: wanted)
        for id in wanted.sorted(by: { $0.rawValue < $1.rawValue }) {
            guard let target = air.targets[id], air.onAir[id] != target else { continue }
            do throws(RadioFailure) {
                try await setAdvertisement(of: id, to: target)
            } catch {
                air.retryAt = .now + AirState.retryPause
                // A radio that is off may stay off. Only the first failure is logged at info.
                logger.log(
                    level: isRetry ? .debug : .info,
                    "A request is not on the air",
                    metadata: ["request": "\(id)", "reason": "\(error.code.rawValue)"]
                )
            }
        }
        airWake.yield()
    }

    private func stopAdvertising(except wanted: Set<SessionID>) async {
        for (id, eid) in air.onAir where !wanted.contains(id) {
            await radio.stopAdvertising(eid)
            air.onAir[id] = nil
            publishAirChange(of: id)
        }
    }

    private func setAdvertisement(of id: SessionID, to eid: EID) async throws(RadioFailure) {
        guard let old = air.onAir[id] else { return try await startAdvertising(id, eid) }
        if air.hasFreeSlot {
            do throws(RadioFailure) {
                try await radio.startAdvertising(eid)
                air.onAir[id] = eid
                await radio.stopAdvertising(old)
                return publishAirChange(of: id)
            } catch {
                guard error.code == .tooManyAdvertisements else { throw error }
                air.recordCapacityReached(at: .now)
            }
        }
        // There is no slot for both EIDs. A short silence is better than keeping the old EID.
        await radio.stopAdvertising(old)
        air.onAir[id] = nil
        try await startAdvertising(id, eid)
    }

    private func startAdvertising(_ id: SessionID, _ eid: EID) async throws(RadioFailure) {
        do throws(RadioFailure) {
            try await radio.startAdvertising(eid)
        } catch {
            guard error.code == .tooManyAdvertisements, !air.onAir.isEmpty else { throw error }
            air.recordCapacityReached(at: .now)
            await stopAdvertising(except: air.wanted(at: .now))
            try await radio.startAdvertising(eid)
        }
        air.onAir[id] = eid
        publishAirChange(of: id)
    }
}
