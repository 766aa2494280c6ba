import CLinux
import Dispatch

/// Catches the signals by which a person, a closing terminal or a service manager ends a command
/// that must clean up: SIGINT, SIGTERM and SIGHUP. Once it is made the first signal is kept for its
/// reader, and the next one ends the process.
struct SignalTrap: Sendable {
    /// True while SIGTERM makes the command clean up instead of ending the process.
    static var isAwaited: Bool { clinux_catches_interruptions() == 1 }

    private let signals: AsyncStream<Void>

    /// Keeps ignored signals ignored, as nohup(1) and a shell's background jobs expect.
    init() {
        let (signals, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        self.signals = signals
        // Dispatch's own signal sources block their signals in the threads that they use, so that
        // the next one might end nothing.
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

    /// Returns `true` once a signal came; `false` if the task was cancelled. To be called once.
    func came() async -> Bool {
        for await _ in signals { return true }
        return false
    }

    /// Lets SIGINT and SIGTERM end the process again.
    func release() { clinux_release_interruptions() }
}
