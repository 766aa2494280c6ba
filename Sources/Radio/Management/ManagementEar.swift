import BlueZ
import GotchuCore
import Synchronization

/// Turns the kernel's reports into what a radio noticed, on whatever thread they are read.
///
/// All memory is fixed: however many random addresses are about, nothing grows.
final class ManagementEar: Sendable {
    /// What the planner of the scan is told, which needs no more than a rough picture.
    enum Sign: Sendable {
        /// One of ours, at most once per `signPause` and EID.
        case heard(Sighting)
        /// Something was heard; at most once per `alivePause`.
        case alive
    }

    static let signPause: Duration = .milliseconds(100)
    static let alivePause: Duration = .milliseconds(500)
    /// Places for what strangers said last; a new one takes the place of another.
    fileprivate static let strangerSlots = 1024
    /// EIDs whose last sign is remembered.
    fileprivate static let signLimit = 64

    private let output: RadioOutput
    private let signs: AsyncStream<Sign>.Continuation
    private let state: Mutex<State>

    fileprivate struct State {
        /// The adapter that is ours.
        var index: UInt16?
        var adapter = ""
        var strangers = [UInt64](repeating: 0, count: ManagementEar.strangerSlots)
        var lastSign: [EID: MonotonicTime] = [:]
        var lastAlive: MonotonicTime?
    }

    init(
        output: RadioOutput,
        signs: AsyncStream<Sign>.Continuation
    ) {
        self.output = output
        self.signs = signs
        state = Mutex(State())
    }

    /// Says whose reports count.
    ///
    /// - Parameter adapter: `hci0`, or `nil` for none.
    func listen(to adapter: String?) {
        let index = adapter.flatMap { $0.hasPrefix("hci") ? UInt16($0.dropFirst(3)) : nil }
        state.withLock { state in
            guard state.index != index else { return }
            state.index = index
            state.adapter = adapter ?? ""
            state.lastAlive = nil
        }
    }

    /// Takes one report.
    func hear(_ report: ManagementReport, at now: MonotonicTime) {
        state.withLock { state in
            guard state.index == report.adapter else { return }
            if state.lastAlive.map({ now - $0 >= Self.alivePause }) ?? true {
                state.lastAlive = now
                signs.yield(.alive)
            }
            switch report.advertisement.recognise() {
            case .ours(let eid, let carrier):
                let sighting = Sighting(
                    time: now,
                    eid: eid,
                    carrier: carrier,
                    rssi: report.rssi,
                    adapter: state.adapter
                )
                output.yield(.heard(sighting))
                if state.isSignDue(eid, now) { signs.yield(.heard(sighting)) }
            case .stranger(let reason):
                // Once for each thing that a device says, as over D-Bus: a crowd must not push
                // sightings out.
                if state.isNews(report.device, reason) { output.yield(.ignored(reason)) }
            }
        }
    }
}

extension ManagementEar.State {
    fileprivate mutating func isSignDue(_ eid: EID, _ now: MonotonicTime) -> Bool {
        if let last = lastSign[eid], now - last < ManagementEar.signPause { return false }
        if lastSign[eid] == nil, lastSign.count >= ManagementEar.signLimit {
            lastSign = lastSign.filter { now - $0.value < .seconds(1) }
            guard lastSign.count < ManagementEar.signLimit else { return false }
        }
        lastSign[eid] = now
        return true
    }

    fileprivate mutating func isNews(_ device: UInt64, _ reason: StrangerReason) -> Bool {
        let said: UInt64 =
            switch reason {
            case .tile: 1
            case .length: 2
            case .charset: 3
            case .noService: 4
            }
        // Seven bytes of address and type, one of reason.
        let entry = device << 8 | said
        let slot = Int(truncatingIfNeeded: (device &* 0x9E37_79B9_7F4A_7C15) >> 54)
        guard strangers[slot] != entry else { return false }
        strangers[slot] = entry
        return true
    }
}
