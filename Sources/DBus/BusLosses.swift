import Synchronization

/// The losses of this process on its connections to message buses, including closed ones.
///
/// Process-wide: the counts of a connection are gone when it has ended.
package final class BusLosses: Sendable {
    package static let ofThisProcess = BusLosses()

    private let late = Atomic(0)

    private init() {}

    /// The number of replies that arrived after their call had timed out or was cancelled.
    package var lateReplies: Int { late.load(ordering: .relaxed) }

    func countLateReply() { late.add(1, ordering: .relaxed) }
}
