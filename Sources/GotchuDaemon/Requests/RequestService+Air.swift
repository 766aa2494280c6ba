import GotchuCore
import Logging
import Radio
import ServiceLifecycle

/// Open requests on the air: all at once as far as the adapter has room, by turns beyond.
///
/// One piece of work at a time changes the air, so that an adapter's places are counted right.
extension RequestService {
    /// Applies a state of the radio. Returns at once; `keepAir` does what follows from it.
    func apply(radio state: RadioState) {
        for id in air.apply(advertised: state.advertising) { publishAirChange(of: id) }
        guard air.stated != state.advertisingCapacity else { return }
        air.stated = state.advertisingCapacity
        air.retryAt = .now
        air.pause?.cancel()
        airWake.yield()
    }

    /// Lets those that do not fit on the air have their turns.
    func keepAir() async {
        for await _ in airWakes.cancelOnGracefulShutdown() {
            while let due = air.nextChange, !Task.isCancelledOrShuttingDown {
                await pauseAir(until: due)
                await air.lock.lock()
                await settle()
                air.lock.unlock()
            }
        }
    }

    /// Waits for a turn's end or a retry, unless the adapter's places change before.
    private func pauseAir(until due: MonotonicTime) async {
        // SAFETY: owned by this function, which ends with it.
        let pause = Task {
            // Both are due with time alone. Requests that come or go do not wait for it.
            _ = try? await Task.sleep(for: max(.zero, due - .now))
        }
        air.pause = pause
        await withTaskCancellationHandler {
            await pause.value
        } onCancel: {
            pause.cancel()
        }
        air.pause = nil
    }

    /// Puts a request on the air; returns once it is there.
    func bringOnAir(_ id: SessionID, _ eid: EID) async throws(RadioFailure) {
        await air.lock.lock()
        defer { air.lock.unlock() }
        air.add(id, eid, at: .now)
        do throws(RadioFailure) {
            try await start(id, eid)
        } catch {
            air.remove(id)
            await settle()
            throw error
        }
        await settle()
    }

    /// Wants a request on the air until it is taken off: at once, or as soon as the radio can.
    func wantOnAir(_ id: SessionID, _ eid: EID) async {
        await air.lock.lock()
        defer { air.lock.unlock() }
        air.add(id, eid, at: .now)
        await settle()
    }

    /// Takes a request off the air; returns when it is off.
    func takeOffAir(_ id: SessionID) async {
        guard air.targets[id] != nil || air.onAir[id] != nil else { return }
        await air.lock.lock()
        defer { air.lock.unlock() }
        air.remove(id)
        await settle()
    }

    /// Has a request heard with another EID: the new one is on the air before the old one leaves.
    func replaceOnAir(_ id: SessionID, by eid: EID) async {
        await air.lock.lock()
        defer { air.lock.unlock() }
        guard air.targets[id] != nil else { return }
        air.targets[id] = eid
        await settle()
    }

    /// Makes what is on the air what should be there.
    private func settle() async {
        let isRetry = air.retryAt != nil
        air.retryAt = nil
        let wanted = air.wanted(at: .now)
        await stopAll(but: wanted)
        for id in wanted.sorted(by: { $0.rawValue < $1.rawValue }) {
            guard let target = air.targets[id], air.onAir[id] != target else { continue }
            do throws(RadioFailure) {
                try await bring(id, to: target)
            } catch {
                air.retryAt = .now + AirState.retryPause
                // A radio that is off stays so for a while: once is enough.
                logger.log(
                    level: isRetry ? .debug : .info,
                    "A request is not on the air",
                    metadata: ["request": "\(id)", "reason": "\(error.code.rawValue)"]
                )
            }
        }
        airWake.yield()
    }

    private func stopAll(but wanted: Set<SessionID>) async {
        for (id, eid) in air.onAir where !wanted.contains(id) {
            await radio.stopAdvertising(eid)
            air.onAir[id] = nil
            publishAirChange(of: id)
        }
    }

    private func bring(_ id: SessionID, to eid: EID) async throws(RadioFailure) {
        guard let old = air.onAir[id] else { return try await start(id, eid) }
        if air.hasSpare {
            do throws(RadioFailure) {
                try await radio.startAdvertising(eid)
                air.onAir[id] = eid
                await radio.stopAdvertising(old)
                return publishAirChange(of: id)
            } catch {
                guard error.code == .tooManyAdvertisements else { throw error }
                air.learnFull(at: .now)
            }
        }
        // There is no place for both: silent for a moment rather than known by its old EID.
        await radio.stopAdvertising(old)
        air.onAir[id] = nil
        try await start(id, eid)
    }

    private func start(_ id: SessionID, _ eid: EID) async throws(RadioFailure) {
        do throws(RadioFailure) {
            try await radio.startAdvertising(eid)
        } catch {
            guard error.code == .tooManyAdvertisements, !air.onAir.isEmpty else { throw error }
            air.learnFull(at: .now)
            await stopAll(but: air.wanted(at: .now))
            try await radio.startAdvertising(eid)
        }
        air.onAir[id] = eid
        publishAirChange(of: id)
    }
}
