import BlueZ
import Glibc
import Synchronization
import TestSupport

/// The kernel's end of management sockets, over a real socket of the same kind (packets that are
/// never cut). The real one is tested in the virtual machine.
final class ScriptedKernel: Sendable {
    private struct State {
        var failures: [ManagementFailure]
        var isPermitted = true
        /// The kernel's end of the socket that was opened last.
        var end: Int32?
    }

    private let state: Mutex<State>
    private let answer: UInt8?

    /// - Parameters:
    ///   - failures: what the next attempts to open a socket come to.
    ///   - answer: the status that the listener's question is answered with; Invalid Index as for a
    ///     privileged process, or `nil` for silence.
    init(failures: [ManagementFailure] = [], answer: UInt8? = 0x11) {
        state = Mutex(State(failures: failures))
        self.answer = answer
    }

    deinit { hangUp() }

    @Sendable func open() throws(ManagementFailure) -> ManagementSocket {
        let failure = state.withLock { state -> ManagementFailure? in
            guard state.isPermitted else { return .noSocket(EAFNOSUPPORT) }
            return state.failures.isEmpty ? nil : state.failures.removeFirst()
        }
        if let failure { throw failure }
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw .noSocket(errno) }
        hangUp()
        state.withLock { $0.end = ends[1] }
        if let answer { send(ManagementFrame.answer(status: answer)) }
        return ManagementSocket(descriptor: ends[0])
    }

    /// Whether attempts to open a socket succeed from now on.
    func permit(_ isPermitted: Bool) {
        state.withLock { $0.isPermitted = isPermitted }
    }

    func send(_ frame: [UInt8]) {
        state.withLock { state in
            guard let end = state.end else { return }
            _ = Glibc.send(end, frame, frame.count, Int32(MSG_NOSIGNAL))
        }
    }

    /// Ends the socket.
    func hangUp() {
        state.withLock { state in
            if let end = state.end.take() { close(end) }
        }
    }
}
