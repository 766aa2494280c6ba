internal import CLinux
internal import Glibc

/// A signal that ends a thread's wait on its connection.
package final class Waker: Sendable {
    let descriptor: Int32

    package init() {
        descriptor = clinux_eventfd()
        precondition(descriptor >= 0, "an eventfd could not be made")
    }

    deinit {
        close(descriptor)
    }

    /// Ends the current wait and all later ones; callable from any thread.
    package func wake() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, MemoryLayout<UInt64>.size)
    }
}
