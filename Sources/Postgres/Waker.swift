internal import CLinux
internal import Glibc

/// Ends the waiting of a thread that waits for its connection to say something.
package final class Waker: Sendable {
    let descriptor: Int32

    package init() {
        descriptor = clinux_eventfd()
        precondition(descriptor >= 0, "an eventfd could not be made")
    }

    deinit {
        close(descriptor)
    }

    /// From any thread. It stays awake.
    package func wake() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, MemoryLayout<UInt64>.size)
    }
}
