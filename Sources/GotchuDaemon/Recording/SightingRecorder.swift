import FoundationEssentials
import GotchuAPI
import GotchuCore
import Synchronization

/// Records the radio's sightings. Each recording has one reader and a limited duration.
///
/// EIDs are replaced by pseudonyms here, before a line leaves the process. Each recording has its
/// own key, so two recordings cannot be linked. Device addresses are not known here.
final class SightingRecorder: Sendable {
    /// The maximum number of recordings at once.
    static let readerLimit = 4
    /// The maximum number of lines buffered for one reader. A busy second has some hundred.
    static let waitingLimit = 4096
    /// The number of lines after which a recording ends.
    static let lineLimit = 500_000

    private let state = Mutex(State())

    private struct State {
        var recordings: [Int: Recording] = [:]
        var nextID = 0
        var isScanning = false
    }

    fileprivate struct Recording {
        let pseudonym = Pseudonymizer()
        let start: MonotonicTime
        let end: MonotonicTime
        let output: AsyncStream<[UInt8]>.Continuation
        var lines = 0
        var lost = 0
    }

    /// A Boolean that is true while there is a recording.
    var isRecording: Bool { state.withLock { !$0.recordings.isEmpty } }

    /// Starts a recording.
    ///
    /// - Returns: The lines without line feeds, the header first; `nil` if there are already
    ///   `readerLimit` recordings.
    func start(_ header: RecordingHeader, for length: Duration) -> AsyncStream<[UInt8]>? {
        let now = MonotonicTime.now
        let (lines, output) = AsyncStream<[UInt8]>.makeStream(
            bufferingPolicy: .bufferingOldest(Self.waitingLimit)
        )
        let id = state.withLock { state -> Int? in
            guard state.recordings.count < Self.readerLimit else { return nil }
            output.yield(CanonicalJSON.bytes(of: header))
            var recording = Recording(start: now, end: now + length, output: output)
            recording.write(.scanning(state.isScanning), at: now)
            state.nextID += 1
            state.recordings[state.nextID] = recording
            return state.nextID
        }
        guard let id else { return nil }
        // If nothing is heard, only this timer ends the recording.
        // SAFETY: owned by the stream, whose end cancels it.
        let timer = Task {
            try await Task.sleep(for: length)
            output.finish()
        }
        output.onTermination = { [weak self] _ in
            timer.cancel()
            self?.state.withLock { _ = $0.recordings.removeValue(forKey: id) }
        }
        return lines
    }

    /// Records the sighting of another device's EID.
    func record(_ sighting: Sighting) {
        write(at: sighting.time) { pseudonym in
            .heard(pseudonym.pseudonym(of: sighting.eid), sighting.carrier, sighting.rssi)
        }
    }

    func recordIgnored(_ reason: IgnoredReason) {
        write(at: .now) { _ in .ignored(reason) }
    }

    func recordScanning(_ isScanning: Bool) {
        let isChanged = state.withLock { state in
            defer { state.isScanning = isScanning }
            return state.isScanning != isScanning
        }
        if isChanged { write(at: .now) { _ in .scanning(isScanning) } }
    }

    private func write(at time: MonotonicTime, _ event: (Pseudonymizer) -> RecordingLine.Event) {
        // The end of a stream calls a handler that takes the lock. Streams are therefore ended
        // after its release.
        let ended = state.withLock { state -> [AsyncStream<[UInt8]>.Continuation] in
            guard !state.recordings.isEmpty else { return [] }
            var ended: [AsyncStream<[UInt8]>.Continuation] = []
            for (id, var recording) in state.recordings {
                if recording.end <= time || recording.lines >= Self.lineLimit {
                    ended.append(recording.output)
                    state.recordings[id] = nil
                } else {
                    recording.write(event(recording.pseudonym), at: time)
                    state.recordings[id] = recording
                }
            }
            return ended
        }
        for output in ended { output.finish() }
    }
}

extension SightingRecorder.Recording {
    fileprivate mutating func write(_ event: RecordingLine.Event, at time: MonotonicTime) {
        // A sighting from before the start of the recording can arrive after the start.
        let since = max(.zero, time - start)
        if lost > 0 {
            let line = CanonicalJSON.bytes(
                of: RecordingLine(time: since, event: .lost(lost))
            )
            guard case .enqueued = output.yield(line) else {
                lost += 1
                return
            }
            lost = 0
        }
        if case .dropped = output.yield(
            CanonicalJSON.bytes(of: RecordingLine(time: since, event: event))
        ) {
            lost += 1
        }
        lines += 1
    }
}
