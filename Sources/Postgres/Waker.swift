internal import CLinux
internal import Glibc

/// Ends a thread's wait for its connection.
package final class Waker: Sendable {
    let descriptor: Int32

    package init() {
        descriptor = clinux_eventfd()
        precondition(descriptor >= 0, "an eventfd could not be made")
    }

    deinit {
        close(descriptor)
    }

    /// Wakes, from any thread, now and for all later waits.
    package func wake() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, MemoryLayout<UInt64>.size)
    }
}
