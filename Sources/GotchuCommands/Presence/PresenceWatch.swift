import GotchuAPI
import GotchuCore
import Synchronization

/// The board that one task keeps up to date and another one draws.
final class PresenceWatch: Sendable {
    private struct State {
        var board: PresenceBoard
        var hasHeard = false
        /// Whether anything changed; `nil` while nothing is known yet.
        var isDirty: Bool?
    }

    private let state: Mutex<State>

    init(wanted: Set<Verdict>) {
        state = Mutex(State(board: PresenceBoard(wanted: wanted)))
    }

    func apply(_ event: Event) -> [PresenceBoard.Change] {
        state.withLock { state in
            let changes = state.board.apply(event)
            state.hasHeard = state.hasHeard || !state.board.sorted.isEmpty
            state.isDirty = true
            return changes
        }
    }

    /// Whether anything of interest was heard at any time.
    var hasHeard: Bool { state.withLock { $0.hasHeard } }

    /// Why nothing can be heard now; `nil` while the radio listens.
    var deafness: HealthItem? { state.withLock { $0.board.deafness } }

    /// What is of interest now, nearest first.
    var sorted: [PresenceView] { state.withLock { $0.board.sorted } }

    /// Whether anything changed since this was last asked; `nil` while nothing is known yet.
    func takeDirty() -> Bool? {
        state.withLock { state in
            defer { state.isDirty = state.isDirty.map { _ in false } }
            return state.isDirty
        }
    }
}
