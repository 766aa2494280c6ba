/// Selects the open requests that are advertised now ("on the air"). Needed if the adapter cannot
/// advertise all of them at once. Pure.
///
/// A new request is advertised immediately, because a person has just made it. If there are more
/// requests than slots, they rotate: the one that has waited longest is next.
package struct AirSchedule: Sendable {
    /// The time that a request stays on the air while others wait. Long enough for a tap.
    package static let turn: Duration = .seconds(4)

    /// The number of advertisements that the adapter can have for us; `nil` if that is not known.
    package var capacity: Int?

    private struct Turn {
        var isOn: Bool
        /// The time at which it went on the air, or began to wait.
        var since: MonotonicTime
        /// A sequence number that orders turns with the same time.
        var order: Int
    }

    private var turns: [SessionID: Turn] = [:]
    private var lastOrder = 0

    package init(capacity: Int? = nil) {
        self.capacity = capacity
    }

    /// The maximum number of requests on the air at once. If the adapter has several slots, one
    /// stays free. A new EID or a new request is then advertised before an old one is removed.
    var onAirLimit: Int { capacity.map { max(1, $0 - 1) } ?? Int.max }

    /// Adds a request and puts it on the air.
    package mutating func add(_ id: SessionID, at now: MonotonicTime) {
        set(id, isOn: true, at: now)
    }

    package mutating func remove(_ id: SessionID) {
        turns[id] = nil
    }

    /// Advances the time and returns the requests that are on the air.
    package mutating func advance(to now: MonotonicTime) -> Set<SessionID> {
        var on = inOrder(isOn: true)
        var waiting = inOrder(isOn: false)[...]
        while on.count > onAirLimit { set(on.removeFirst(), isOn: false, at: now) }
        while on.count < onAirLimit, let next = waiting.popFirst() {
            set(next, isOn: true, at: now)
            on.append(next)
        }
        while let oldest = on.first, isOver(oldest, at: now), let next = waiting.popFirst() {
            set(on.removeFirst(), isOn: false, at: now)
            set(next, isOn: true, at: now)
        }
        return Set(turns.filter(\.value.isOn).keys)
    }

    /// The time at which `advance` must be called if no event comes first; `nil` if no request
    /// waits.
    package var nextChange: MonotonicTime? {
        guard turns.values.contains(where: { !$0.isOn }) else { return nil }
        return turns.values.filter(\.isOn).map { $0.since + Self.turn }.min()
    }

    private func isOver(_ id: SessionID, at now: MonotonicTime) -> Bool {
        turns[id].map { now - $0.since >= Self.turn } ?? true
    }

    private mutating func set(_ id: SessionID, isOn: Bool, at now: MonotonicTime) {
        lastOrder += 1
        turns[id] = Turn(isOn: isOn, since: now, order: lastOrder)
    }

    /// Returns the requests on the air, or those that wait. The first one has been there longest.
    private func inOrder(isOn: Bool) -> [SessionID] {
        turns.filter { $0.value.isOn == isOn }.sorted { $0.value.order < $1.value.order }.map(\.key)
    }
}
