internal import Synchronization

/// The memory that the received bodies of all connections use. Small bodies are not counted, so a
/// payment is accepted even while others use all of it.
final class BodyMemory: Sendable {
    /// The limit, in bytes: a thousand of the largest usual bodies.
    static let limit = 64 << 20
    /// The largest number of bytes of one connection that are not counted. A payment has a few
    /// hundred.
    static let uncounted = 4 << 10

    private let used = Atomic<Int>(0)

    /// Changes a connection's part.
    ///
    /// - Returns: False, and changes nothing, if the limit would be exceeded.
    private func change(from old: Int, to new: Int) -> Bool {
        guard new > old else {
            used.subtract(old - new, ordering: .relaxed)
            return true
        }
        guard used.add(new - old, ordering: .relaxed).newValue <= Self.limit else {
            used.subtract(new - old, ordering: .relaxed)
            return false
        }
        return true
    }

    /// The part of one connection.
    struct Share {
        private let memory: BodyMemory
        private var counted = 0
        private var body = 0
        private var waiting = 0

        init(_ memory: BodyMemory) {
            self.memory = memory
        }

        /// Counts the bytes of the current body.
        ///
        /// - Returns: False if the limit would be exceeded. They are then not counted.
        mutating func hold(_ bytes: Int) -> Bool {
            body = bytes
            return count()
        }

        /// Counts more or fewer bytes of bodies that wait for their turn.
        ///
        /// - Returns: False as for `hold`.
        mutating func addPending(_ bytes: Int) -> Bool {
            waiting += bytes
            return count()
        }

        /// Counts no bytes any more.
        mutating func release() {
            (body, waiting) = (0, 0)
            _ = count()
        }

        private mutating func count() -> Bool {
            let bytes = body + waiting
            let next = bytes > uncounted ? bytes : 0
            guard memory.change(from: counted, to: next) else { return false }
            counted = next
            return true
        }
    }
}
