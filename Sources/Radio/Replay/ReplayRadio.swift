package import GotchuCore
import ServiceLifecycle

/// A radio that hears what another one heard, in the same rhythm, and is not on any air.
///
/// For a shop's trouble on a desk, and as a test. At the recording's end it hears nothing any more
/// and says so.
package final class ReplayRadio: Radio {
    package let name = "replay"

    private let recording: Recording

    package init(_ recording: Recording) {
        self.recording = recording
    }

    /// Changes nothing: a recording goes on, and to hear it costs no other radio anything.
    package func setListening(_ isWanted: Bool) async {}

    /// Always throws: nobody could hear it.
    package func startAdvertising(_ eid: EID) async throws(RadioFailure) {
        throw RadioFailure(.replayOnlyListens)
    }

    package func stopAdvertising(_ eid: EID) async {}

    package func run(onEvent: @escaping RadioListener) async throws {
        await cancelWhenGracefulShutdown { await self.play(onEvent) }
    }

    private func play(_ onEvent: RadioListener) async {
        var state = RadioState(adapter: recording.header.adapter ?? name)
        // Until the recording says otherwise.
        (state.isScanning, state.isListeningWanted) = (true, true)
        onEvent(.stateChanged(state))
        let start = MonotonicTime.now
        for line in recording.lines {
            let due = start + line.time
            let now = MonotonicTime.now
            // The rhythm in which it was heard.
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
            // What was lost then is lost.
            case .lost: break
            }
        }
        state.isScanning = false
        state.problem = RadioFailure(.replayEnded)
        onEvent(.stateChanged(state))
        // The daemon goes on for as long as somebody looks at it.
        try? await Task.sleep(for: .seconds(365 * 86_400))
    }
}
