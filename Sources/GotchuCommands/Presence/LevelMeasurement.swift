import Glibc
import GotchuAPI
import GotchuCore
import LocalAPI

/// Measures one till's levels at one distance, from the daemon's events.
struct LevelMeasurement {
    /// The lead in dB that the nearest till needs over the next one.
    private static let lead = 6.0
    /// The interval at which standard input is polled.
    private static let inputInterval = Duration.milliseconds(50)

    let client: LocalClient
    let output: Output
    /// The EID of the till to be measured; `nil` for the nearest.
    let wanted: EID?
    let count: Int
    let limit: Duration

    /// The levels heard at one distance.
    struct Result {
        let adapter: String
        let levels: [RSSI]
    }

    /// Waits for Enter, then listens.
    func run() async throws -> Result {
        try await enter()
        do {
            return try await withTimeout(limit) { try await listen() }
        } catch is TimedOut {
            let failure = CommandFailure.tryAgain(
                "Fewer than \(count) advertisements were heard in \(limit.components.seconds) s.",
                next: "gotchu-ctl scan --explain"
            )
            throw await client.receptionFailure(orElse: failure)
        }
    }

    private func listen() async throws -> Result {
        let tally = Tally(wanted: wanted, count: count)
        return try await client.withEvents(sessions: true) { events in
            while let event = try await events.next() {
                if try tally.apply(event, lead: Self.lead) {
                    progress("\(tally.levels.count) of \(count) · \(tally.last) dBm")
                }
                if let result = tally.result {
                    progress("\(count) of \(count)")
                    output.message("")
                    return result
                }
            }
            throw LocalClientFailure.connectionLost
        }
    }

    private func progress(_ text: String) {
        guard output.messages.canRedraw else { return }
        output.message("\r  \(text)   ", terminator: "")
    }

    /// Waits for a line on standard input without blocking a thread of the cooperative pool.
    private func enter() async throws {
        // An Enter typed earlier would start this measurement at once.
        Question.discardInput()
        while true {
            var descriptor = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            if poll(&descriptor, 1, 0) > 0 {
                var byte: UInt8 = 0
                guard read(STDIN_FILENO, &byte, 1) == 1 else {
                    throw CommandFailure.usage(
                        "Somebody must hold the device and press Enter.",
                        next: "gotchu-ctl calibrate --help"
                    )
                }
                if byte == UInt8(ascii: "\n") { return }
            } else {
                // Polled: cancellation, such as by Ctrl-C, ends a sleep but not a blocking read.
                try await Task.sleep(for: Self.inputInterval)
            }
        }
    }

    /// The levels heard so far. Confined to one task.
    private final class Tally {
        private let count: Int
        private let wanted: EID?
        private var list = PresenceList()
        private(set) var levels: [RSSI] = []
        private var adapter: String?
        private var lastHeard: Timestamp?

        init(wanted: EID?, count: Int) {
            self.wanted = wanted
            self.count = count
        }

        var last: Int { levels.last?.dBm ?? 0 }

        var result: Result? {
            guard let adapter, levels.count >= count else { return nil }
            return Result(adapter: adapter, levels: levels)
        }

        /// Applies an event.
        ///
        /// - Returns: True if a level was added.
        func apply(_ event: Event, lead: Double) throws -> Bool {
            _ = list.apply(event)
            guard case .presenceChanged(let presence) = event else { return false }
            return try sample(presence, lead: lead)
        }

        private func sample(_ presence: PresenceView, lead: Double) throws -> Bool {
            let nearest = list.presences.values.sorted { $0.level > $1.level }
            guard presence.eid == wanted ?? nearest.first?.eid,
                let rssi = presence.rssiDBm.flatMap({ RSSI(dBm: $0) }),
                lastHeard.map({ $0 < presence.lastHeardAt }) ?? true
            else { return false }
            if wanted == nil, nearest.count > 1, nearest[0].level - nearest[1].level < lead {
                throw CommandFailure.negative(
                    "Two tills are about as near: \(nearest[0].eid) and \(nearest[1].eid).",
                    next: "gotchu-ctl calibrate --eid \(nearest[0].eid)"
                )
            }
            if adapter != presence.adapter { levels = [] }
            adapter = presence.adapter
            lastHeard = presence.lastHeardAt
            levels.append(rssi)
            return true
        }
    }
}
