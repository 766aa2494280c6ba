import Foundation
import GotchuCore
import Radio
import ServiceLifecycle
import TestSupport
import Testing

@Suite("Replaying a recording") struct ReplayTests {
    private static let header = RecordingHeader(
        version: "0",
        radio: "bluez",
        adapter: "hci0",
        transport: "management",
        bluezVersion: "5.66",
        startedAt: Timestamp(milliseconds: 0),
        policy: ProximityPolicy()
    )

    private static func text(_ lines: [RecordingLine]) throws -> [UInt8] {
        let encoder = JSONEncoder()
        var text = try Array(encoder.encode(header)) + Array("\n".utf8)
        for line in lines { text += try Array(encoder.encode(line)) + Array("\n".utf8) }
        return text
    }

    /// Replays a recording, and returns all events up to its end.
    private static func played(_ lines: [RecordingLine]) async throws -> [RadioEvent] {
        let radio = ReplayRadio(try Recording(text(lines)))
        let (heard, output) = AsyncStream<RadioEvent>.makeStream()
        let running = Task { try await radio.run { output.yield($0) } }  // SAFETY: cancelled below.
        defer { running.cancel() }
        var events: [RadioEvent] = []
        for await event in heard {
            events.append(event)
            if case .stateChanged(let state) = event, state.problem != nil { break }
        }
        return events
    }

    @Test("A replay has the recording's events and intervals, and then reports its end")
    func plays() async throws {
        let eid = EID(literal: "a1b2c3d4e5")
        let events = try await Self.played([
            RecordingLine(time: .zero, event: .scanning(true)),
            RecordingLine(
                time: .milliseconds(10),
                event: .heard(eid, .serviceData, RSSI(dBm: -50))
            ),
            RecordingLine(time: .milliseconds(20), event: .ignored(.tile)),
            RecordingLine(time: .milliseconds(20), event: .lost(3)),
            RecordingLine(time: .milliseconds(310), event: .heard(eid, .localName, nil)),
        ])
        var sightings: [Sighting] = []
        var states: [RadioState] = []
        var ignored: [IgnoredReason] = []
        for event in events {
            switch event {
            case .heard(let sighting): sightings.append(sighting)
            case .ignored(let reason): ignored.append(reason)
            case .stateChanged(let state): states.append(state)
            }
        }
        try #require(sightings.count == 2 && states.count == 2)
        #expect(sightings[0].rssi?.dBm == -50 && sightings[0].adapter == "hci0")
        #expect(sightings[1].rssi == nil && sightings[1].carrier == .localName)
        #expect(sightings[1].time - sightings[0].time == .milliseconds(300))
        #expect(ignored == [.tile])
        #expect(states[0].isScanning && states[0].problem == nil)
        #expect(!states[1].isScanning && states[1].problem?.code == .replayEnded)
    }

    @Test("A replay radio refuses to advertise")
    func advertises() async throws {
        let radio = ReplayRadio(try Recording(Self.text([])))
        await #expect(throws: RadioFailure(.replayOnlyListens)) {
            try await radio.startAdvertising(EID(literal: "a1b2c3d4e5"))
        }
    }

    @Test("The error for a damaged recording contains the number of the damaged line")
    func malformed() throws {
        let good = try Self.text([RecordingLine(time: .seconds(1), event: .lost(1))])
        func line(_ text: [UInt8]) -> Int? {
            do throws(Recording.Malformed) {
                _ = try Recording(text)
                return nil
            } catch {
                return error.line
            }
        }
        #expect(line(good) == nil)
        #expect(line([]) == 1)
        #expect(line(Array("{}\n".utf8)) == 1)
        #expect(line(good + Array("{\"at_us\":2000000,\"lo".utf8)) == 3)
        #expect(line(good + Array("\n\n{}\n".utf8)) == 5)
        // The time of a line must not be before the time of the line above.
        #expect(line(good + Array("{\"at_us\":999999,\"lost\":1}\n".utf8)) == 3)
        let newer = String(decoding: good, as: UTF8.self)
            .replacing("\"gotchu_recording\":1", with: "\"gotchu_recording\":2")
        #expect(line(Array(newer.utf8)) == 1)
        #expect(throws: Recording.Malformed.self) { try Recording(path: "/nonexistent") }
        #expect(throws: Recording.Malformed.self) { try Recording(path: "/dev/zero") }
    }
}
