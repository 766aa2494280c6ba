import Glibc
package import GotchuAPI
import NIOCore
import NIOHTTP1

/// The reason why a call over the daemon's socket failed.
package enum LocalClientFailure: Error, Equatable, Sendable {
    /// There is no socket: the daemon is not running, or uses another socket.
    case noSocket(path: String)
    /// Nothing listens on the socket: the daemon has ended without removing it.
    case refused(path: String)
    /// The socket's mode and group exclude this user.
    case permissionDenied(path: String)
    /// The listener's user is neither root, nor this user, nor the owner of the socket's folder.
    /// Nothing was sent.
    case foreignListener(path: String, userID: UInt32)
    /// The path does not fit into a socket address (107 bytes on Linux).
    case pathTooLong(path: String)
    /// There was no complete reply before the timeout.
    case timedOut(after: Duration)
    /// The connection ended before the reply was complete.
    case connectionLost
    /// The daemon has another major API version, or sends none.
    case apiMismatch(theirs: String?)
    /// The reply does not conform to the API. `underlying` is for a bug report.
    case unreadableReply(underlying: String)
    /// The daemon refused the call with a problem.
    case problem(Problem)
    /// Any other system error. `underlying` is for a bug report.
    case system(underlying: String)

    /// Converts an error of the transport. Must not be called with a `CancellationError`.
    init(transport error: any Error, path: String) {
        switch error {
        case let failure as LocalClientFailure:
            self = failure
        case let error as IOError:
            self.init(errno: error.errnoCode, path: path)
        case HTTPParserError.invalidEOFState:
            self = .connectionLost
        case let error as HTTPParserError:
            self = .unreadableReply(underlying: String(describing: error))
        case let error as SocketAddressError where error == .unixDomainSocketPathTooLong:
            self = .pathTooLong(path: path)
        case is ChannelError:
            self = .connectionLost
        default:
            self = .system(underlying: String(describing: error))
        }
    }

    private init(errno code: CInt, path: String) {
        switch code {
        case ENOENT, ENOTDIR: self = .noSocket(path: path)
        case ECONNREFUSED: self = .refused(path: path)
        case EACCES, EPERM: self = .permissionDenied(path: path)
        // connect(2) on a Unix socket: the listener's backlog is full.
        case EAGAIN: self = .timedOut(after: .zero)
        case EPIPE, ECONNRESET: self = .connectionLost
        // The peer closed the socket before the kernel was asked for its credentials.
        case EBADF, ENOTCONN: self = .connectionLost
        default: self = .system(underlying: "errno \(code)")
        }
    }
}
