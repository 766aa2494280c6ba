import BlueZ
import Glibc
import Synchronization
import TestSupport

/// The kernel's side of management sockets, simulated with pairs of packet sockets. The tests in
/// the virtual machine use the real kernel.
final class ScriptedKernel: Sendable {
    private struct State {
        var failures: [ManagementFailure]
        var isPermitted = true
        /// The kernel's ends of the sockets that were opened.
        var ends: [Int32] = []
    }

    private let state: Mutex<State>
    private let answer: UInt8?

    /// - Parameters:
    ///   - failures: The failures of the first attempts to open a socket.
    ///   - answer: The status in the answer to the listener's permission check; `nil` for no
    ///     answer. By default it is Invalid Index, which a privileged process gets.
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
        state.withLock { $0.ends.append(ends[1]) }
        if let answer { Self.send(ManagementFrame.answer(status: answer), on: ends[1]) }
        return ManagementSocket(descriptor: ends[0])
    }

    /// Makes attempts to open a socket succeed or fail from now on.
    func permit(_ isPermitted: Bool) {
        state.withLock { $0.isPermitted = isPermitted }
    }

    func send(_ frame: [UInt8]) {
        // A frame to a closed socket has no effect.
        for end in state.withLock(\.ends) { Self.send(frame, on: end) }
    }

    private static func send(_ frame: [UInt8], on end: Int32) {
        _ = Glibc.send(end, frame, frame.count, Int32(MSG_NOSIGNAL))
    }

    /// Returns the commands since the last call, without the listener's permission check.
    func commands() -> [[UInt8]] {
        let question: [UInt8] = [0x15, 0, 0xFF, 0xFF, 0, 0]
        return state.withLock { state in
            state.ends.flatMap { end in
                var commands: [[UInt8]] = []
                var buffer = [UInt8](repeating: 0, count: 64)
                while true {
                    let count = recv(end, &buffer, buffer.count, Int32(MSG_DONTWAIT))
                    guard count > 0 else { break }
                    commands.append(Array(buffer[..<count]))
                }
                return commands.filter { $0 != question }
            }
        }
    }

    /// A Boolean that is true while the radio has one of the sockets open.
    var isHeard: Bool {
        state.withLock { state in
            state.ends.contains { end in
                var descriptor = pollfd(fd: end, events: 0, revents: 0)
                return poll(&descriptor, 1, 0) == 0
            }
        }
    }

    /// Closes the kernel's ends of all sockets.
    func hangUp() {
        state.withLock { state in
            for end in state.ends { close(end) }
            state.ends = []
        }
    }
}
