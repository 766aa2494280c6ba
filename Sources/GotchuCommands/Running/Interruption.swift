import CLinux
import Glibc
import Synchronization
import UnixSignals

/// The signals by which a person, a closing terminal or a service manager ends a command that has
/// something to tidy up. From the moment it is made they are kept for whoever reads them.
struct Interruption: Sendable {
    /// Whether SIGTERM has the command tidy up now, and does not just end it.
    static var isAwaited: Bool { awaited.withLock(\.self) }
    private static let awaited = Mutex(false)

    private let signals: UnixSignalsSequence
    private let numbers: [CInt]

    /// A signal that the caller has ignored stays ignored, as nohup(1) and a shell's background
    /// jobs expect.
    init() async {
        let heeded = [UnixSignal.sigint, .sigterm, .sighup].filter {
            clinux_signal_is_ignored($0.rawValue) == 0
        }
        numbers = heeded.map(\.rawValue)
        signals = await UnixSignalsSequence(trapping: heeded)
        Self.awaited.withLock { $0 = heeded.contains(.sigterm) }
    }

    /// Returns `true` once one came; `false` if none can come or the task was cancelled. Once only.
    func came() async -> Bool {
        for await _ in signals { return true }
        return false
    }

    /// Lets the signals end the process again, so that a second Ctrl-C works. But for SIGHUP: a
    /// terminal that closes sends it twice, by the kernel and by the shell.
    func release() {
        Self.awaited.withLock { $0 = false }
        for number in numbers where number != SIGHUP { signal(number, SIG_DFL) }
    }
}
