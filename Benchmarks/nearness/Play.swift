import Foundation
import GotchuCore

/// A recording of what a receiver heard. Senders are indices of `eids`.
private struct Heard {
    let header: RecordingHeader
    var eids: [EID] = []
    var events: [ModelEvent] = []

    /// A sentence that says why a file cannot be played, and the exit status.
    struct Unreadable: Error {
        let status: Int32
        let sentence: String
    }

    init(_ path: String) throws(Unreadable) {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw Unreadable(status: 66, sentence: "\(path) cannot be read.")
        }
        let lines = text.split(separator: "\n").map { Data($0.utf8) }
        let decoder = JSONDecoder()
        guard let first = lines.first,
            let header = try? decoder.decode(RecordingHeader.self, from: first),
            header.format == RecordingHeader.currentFormat
        else {
            let sentence = "\(path) is no recording: line 1 is not the header of format 1."
            throw Unreadable(status: 65, sentence: sentence)
        }
        self.header = header
        for (number, line) in lines.enumerated().dropFirst() {
            guard let line = try? decoder.decode(RecordingLine.self, from: line) else {
                let sentence = "\(path): line \(number + 1) is no line of a recording."
                throw Unreadable(status: 65, sentence: sentence)
            }
            guard case .heard(let eid, _, let rssi?) = line.event else { continue }
            if !eids.contains(eid) { eids.append(eid) }
            let sender = eids.firstIndex(of: eid) ?? 0
            let second = line.time.inSeconds
            events.append(ModelEvent(second: second, sender: sender, rssi: rssi.dBm))
        }
        guard !events.isEmpty else {
            throw Unreadable(status: 65, sentence: "\(path): nothing was heard.")
        }
    }
}

/// Plays a recording through the shipped decision, at the recording's own settings and at two
/// others, through the rule before it, and through the optimum. Prints when each EID was a tap.
///
/// A recording's note decides what is right: if it begins with "held", a tap is right, and otherwise
/// each tap is false.
///
/// - Returns: The exit status.
func play(_ path: String) -> Int32 {
    let heard: Heard
    do throws(Heard.Unreadable) {
        heard = try Heard(path)
    } catch {
        print(error.sentence)
        return error.status
    }
    let (header, eids) = (heard.header, heard.eids)
    let end = heard.events.last?.second ?? 0
    let isHeld = header.note?.hasPrefix("held") ?? false
    let ticks = stride(from: 0, through: end, by: 0.2).map {
        ModelEvent(second: $0, sender: nil)
    }
    let all = (ticks + heard.events).sorted {
        ($0.second, $0.sender ?? -1) < ($1.second, $1.sender ?? -1)
    }
    let printable = (header.note ?? "no note").unicodeScalars.filter { $0.value >= 0x20 }
    let note = String(String.UnicodeScalarView(printable))
    print("\(path): \(note), \(hundredths(end)) s, \(eids.count) EIDs")
    let interval = medianGap(heard.events)
    for (name, rule) in [
        ("as recorded", Shipped(policy(of: header), from: 0) as any Rule),
        ("certainty 5", Shipped(certainty: 5, from: 0)),
        ("certainty 4", Shipped(certainty: 4, from: 0)),
        ("5df1adf2", Ranking { Before() }),
        ("the optimum of the model", Ranking { Optimum(interval: interval) }),
    ] {
        var rule = rule
        var taps: Set<Int> = []
        var lines: [String] = []
        for event in all {
            let before = taps
            taps = rule.apply(event)
            let second = hundredths(event.second)
            lines += taps.subtracting(before).sorted().map { "\(eids[$0]) from \(second) s" }
            lines += before.subtracting(taps).sorted().map { "\(eids[$0]) until \(second) s" }
        }
        let found = lines.isEmpty ? "no tap" : "tap of " + lines.joined(separator: ", ")
        print("  \(name): \(found)\(lines.isEmpty || isHeld ? "" : ": FALSE")")
    }
    return 0
}

/// Returns the policy that the recording's header has. A calibration is not in it.
private func policy(of header: RecordingHeader) -> ProximityPolicy {
    var policy = ProximityPolicy()
    let levels = header.policy
    if levels.tapLeave < levels.tapEnter, levels.nearLeave < levels.nearEnter {
        policy.tap = .init(enter: levels.tapEnter, leave: levels.tapLeave)
        policy.near = .init(enter: levels.nearEnter, leave: levels.nearLeave)
    }
    policy.certainty = header.policy.certainty ?? policy.certainty
    return policy
}

/// Returns the median time in seconds between two advertisements of one sender.
private func medianGap(_ events: [ModelEvent]) -> Double {
    let gaps = Dictionary(grouping: events) { $0.sender }.values
        .flatMap { heard in zip(heard.dropFirst(), heard).map { $0.second - $1.second } }
        .sorted()
    return gaps.isEmpty ? 0.1 : gaps[gaps.count / 2]
}

/// Writes the model's recordings: held, at half a metre, and passing by.
///
/// - Returns: The exit status.
func writeModel(into folder: String) -> Int32 {
    let walk: @Sendable (Double) -> Double = { hypot($0 - 2, 0.12) }
    let hand = ModelTill { $0 < 3 ? 0.5 : 0.05 }
    let recordings: [(file: String, note: String, till: ModelTill, seconds: Double)] = [
        ("held", "held: from half a metre to 5 cm at 3 s, in the model", hand, 10),
        ("half-metre", "half a metre in the model", ModelTill(0.5), 30),
        ("passing", "passing by at 12 cm in the model", ModelTill(walk), 4),
    ]
    for (index, recording) in recordings.enumerated() {
        var random = SplitMix64(state: UInt64(index) + 5)
        let header = RecordingHeader(
            version: "model",
            radio: "model",
            adapter: nil,
            transport: nil,
            bluezVersion: nil,
            startedAt: Timestamp(milliseconds: 0),
            policy: ProximityPolicy(),
            note: recording.note
        )
        let events = modelEvents(of: [recording.till], until: recording.seconds, &random)
        let lines = events.compactMap { event -> RecordingLine? in
            guard let sender = event.sender, let rssi = RSSI(dBm: event.rssi) else { return nil }
            let time = Duration.microseconds(Int64(event.second * 1_000_000))
            return RecordingLine(
                time: time,
                event: .heard(ShippedRule.eid(of: sender), .serviceData, rssi)
            )
        }
        do {
            var text = try CanonicalJSON.encode(header) + [0x0A]
            for line in lines { text += try CanonicalJSON.encode(line) + [0x0A] }
            try Data(text).write(to: URL(fileURLWithPath: "\(folder)/\(recording.file).ndjson"))
        } catch {
            print("\(folder)/\(recording.file).ndjson: \(error)")
            return 74
        }
    }
    return 0
}
