import GotchuAPI
import GotchuCore
import Synchronization

/// The board that one task keeps up to date and another one draws.
final class SharedPresenceList: Sendable {
    private struct State {
        var list: PresenceList
        var hasHeard = false
        /// Whether anything changed; `nil` while nothing is known yet.
        var isDirty: Bool?
    }

    private let state: Mutex<State>

    init(wanted: Set<Verdict>) {
        state = Mutex(State(list: PresenceList(wanted: wanted)))
    }

    func apply(_ event: Event) -> [PresenceList.Change] {
        state.withLock { state in
            let changes = state.list.apply(event)
            state.hasHeard = state.hasHeard || !state.list.sorted.isEmpty
            state.isDirty = true
            return changes
        }
    }

    /// Whether anything of interest was heard at any time.
    var hasHeard: Bool { state.withLock { $0.hasHeard } }

    /// Why nothing can be heard now; `nil` while the radio listens.
    var receptionProblem: HealthItem? { state.withLock { $0.list.receptionProblem } }

    /// What is of interest now, nearest first.
    var sorted: [PresenceView] { state.withLock { $0.list.sorted } }

    /// Whether anything changed since this was last asked; `nil` while nothing is known yet.
    func takeDirty() -> Bool? {
        state.withLock { state in
            defer { state.isDirty = state.isDirty.map { _ in false } }
            return state.isDirty
        }
    }
}
