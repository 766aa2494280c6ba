internal import Synchronization

/// Something that is so or not, and worth a word whenever that changes.
final class Change: Sendable {
    private let value = Atomic<Bool>(false)

    var isSo: Bool { value.load(ordering: .relaxed) }

    /// Notes how it is.
    ///
    /// - Returns: Whether it was otherwise.
    func note(_ isSo: Bool) -> Bool {
        value.exchange(isSo, ordering: .relaxed) != isSo
    }
}
