import Synchronization

/// The losses of this process on its connections to message buses, ended ones included.
///
/// Process-wide, because a connection that was lost takes its own counts with it, and they are
/// wanted most right then.
package final class BusLosses: Sendable {
    package static let ofThisProcess = BusLosses()

    private let late = Atomic(0)

    private init() {}

    /// Replies that came after their call had timed out or was cancelled.
    package var lateReplies: Int { late.load(ordering: .relaxed) }

    func countLateReply() { late.add(1, ordering: .relaxed) }
}
