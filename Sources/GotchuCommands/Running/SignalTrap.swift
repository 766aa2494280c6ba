import CLinux
import Dispatch

/// Catches the signals by which a person, a closing terminal or a service manager ends a command
/// that must clean up: SIGINT, SIGTERM and SIGHUP. The first signal is kept for `waitForSignal`;
/// the next one ends the process.
struct SignalTrap: Sendable {
    /// A Boolean that is true while SIGTERM starts the clean-up instead of ending the process.
    static var isActive: Bool { clinux_catches_interruptions() == 1 }

    private let signals: AsyncStream<Void>

    /// Catches the signals from now on. Ignored ones stay ignored, as nohup(1) and shells expect.
    init() {
        let (signals, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        self.signals = signals
        // Dispatch's signal sources are not used: they block their signals in Dispatch's threads,
        // so that the next signal might end nothing.
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

    /// Returns `true` once a signal was caught, `false` if the task was cancelled. Call it once.
    func waitForSignal() async -> Bool {
        for await _ in signals { return true }
        return false
    }

    /// Lets SIGINT and SIGTERM end the process again.
    func release() { clinux_release_interruptions() }
}
