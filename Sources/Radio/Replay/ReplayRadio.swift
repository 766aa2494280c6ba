package import GotchuCore
import ServiceLifecycle

/// A radio that replays a recording at its original pace and sends nothing.
///
/// For the analysis of a shop's problem, and for tests. At the end of the recording it reports that
/// it hears nothing more.
package final class ReplayRadio: Radio {
    package let name = "replay"

    private let recording: Recording

    package init(_ recording: Recording) {
        self.recording = recording
    }

    /// Does nothing: a recording always plays.
    package func setListening(_ isWanted: Bool) async {}

    /// Always throws: a replay cannot send.
    package func startAdvertising(_ eid: EID) async throws(RadioFailure) {
        throw RadioFailure(.replayOnlyListens)
    }

    package func stopAdvertising(_ eid: EID) async {}

    package func run(onEvent: @escaping RadioListener) async throws {
        await cancelWhenGracefulShutdown { await self.play(onEvent) }
    }

    private func play(_ onEvent: RadioListener) async {
        var state = RadioState(adapter: recording.header.adapter ?? name)
        // This holds until the recording reports another state.
        (state.isScanning, state.isListeningWanted) = (true, true)
        onEvent(.stateChanged(state))
        let start = MonotonicTime.now
        for line in recording.lines {
            let due = start + line.time
            let now = MonotonicTime.now
            // Keep the pace of the recording.
            if due > now { await pause(for: due - now) }
            guard !Task.isCancelled else { return }
            switch line.event {
            case .heard(let eid, let carrier, let rssi):
                let adapter = state.adapter ?? name
                onEvent(
                    .heard(
                        Sighting(
                            time: due,
                            eid: eid,
                            carrier: carrier,
                            rssi: rssi,
                            adapter: adapter
                        )
                    )
                )
            case .ignored(let reason): onEvent(.ignored(reason))
            case .scanning(let isScanning):
                guard state.isScanning != isScanning else { break }
                state.isScanning = isScanning
                onEvent(.stateChanged(state))
            // Losses in a recording cannot be replayed.
            case .lost: break
            }
        }
        state.isScanning = false
        state.problem = RadioFailure(.replayEnded)
        onEvent(.stateChanged(state))
        // The daemon keeps running so that its state can still be read.
        try? await Task.sleep(for: .seconds(365 * 86_400))
    }
}
