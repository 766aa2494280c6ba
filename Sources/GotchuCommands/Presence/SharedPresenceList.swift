import GotchuAPI
import GotchuCore
import Synchronization

/// A presence list that one task updates and another draws.
final class SharedPresenceList: Sendable {
    private struct State {
        var list: PresenceList
        var hasHeard = false
        var hasBegun = false
    }

    private let state: Mutex<State>

    init(wanted: Set<Verdict> = Set(Verdict.allCases)) {
        state = Mutex(State(list: PresenceList(wanted: wanted)))
    }

    func apply(_ event: Event) -> [PresenceList.Change] {
        state.withLock { state in
            let changes = state.list.apply(event)
            state.hasHeard = state.hasHeard || !state.list.sorted.isEmpty
            state.hasBegun = true
            return changes
        }
    }

    /// A Boolean that is true after the first event.
    var hasBegun: Bool { state.withLock { $0.hasBegun } }

    /// A Boolean that is true once a wanted presence was heard.
    var hasHeard: Bool { state.withLock { $0.hasHeard } }

    var list: PresenceList { state.withLock { $0.list } }
}
