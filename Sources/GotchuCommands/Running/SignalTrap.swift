import CLinux
import Dispatch

/// Catches SIGINT, SIGTERM and SIGHUP, by which a person, a service manager or a closing terminal
/// ends a command that must clean up. `waitForSignal` returns for the first signal. The next SIGINT
/// or SIGTERM ends the process.
struct SignalTrap: Sendable {
    /// A Boolean that is true while SIGTERM starts the clean-up instead of ending the process.
    static var isActive: Bool { clinux_catches_interruptions() == 1 }

    private let signals: AsyncStream<Void>

    /// Catches the signals from now on. A signal that the process ignores stays ignored, as
    /// nohup(1) and shells expect.
    init() {
        let (signals, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        self.signals = signals
        // Dispatch's signal sources are not used: they block their signals in Dispatch's threads.
        // The next signal might then not end the process.
        // SAFETY: any thread may cancel a source, and nothing else is done to it after `resume`.
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
