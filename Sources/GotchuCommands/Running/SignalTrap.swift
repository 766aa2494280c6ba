import CLinux
import Dispatch

/// The signals by which a person, a closing terminal or a service manager ends a command that has
/// something to tidy up: SIGINT, SIGTERM and SIGHUP. From the moment it is made the first one is
/// kept for its reader, and the next one ends the process.
struct SignalTrap: Sendable {
    /// True while SIGTERM has the command tidy up, and does not just end it.
    static var isAwaited: Bool { clinux_catches_interruptions() == 1 }

    private let signals: AsyncStream<Void>

    /// A signal that the caller has ignored stays ignored, as nohup(1) and a shell's background
    /// jobs expect.
    init() {
        let (signals, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        self.signals = signals
        // Dispatch's own signal sources block what they wait for, in the threads that it comes to,
        // so that the next one may end nothing.
        // SAFETY: a source may be cancelled from any thread; nothing else is done to it.
        nonisolated(unsafe) let source = DispatchSource.makeReadSource(
            fileDescriptor: clinux_catch_interruptions()
        )
        source.setEventHandler {
            clinux_forget_interruptions()
            signal.yield()
        }
        signal.onTermination = { _ in source.cancel() }
        source.resume()
    }

    /// Returns `true` once one came; `false` if the task was cancelled. Once only.
    func came() async -> Bool {
        for await _ in signals { return true }
        return false
    }

    /// Lets SIGINT and SIGTERM end the process again.
    func release() { clinux_release_interruptions() }
}
