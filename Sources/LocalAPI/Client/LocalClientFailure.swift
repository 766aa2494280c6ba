import Glibc
package import GotchuAPI
import NIOCore
import NIOHTTP1

/// A reason for which a call over the daemon's socket got no answer, or another than it needs.
package enum LocalClientFailure: Error, Equatable, Sendable {
    /// There is no such socket: the daemon does not run, or listens elsewhere.
    case noSocket(path: String)
    /// A socket is there and nobody listens on it: the daemon died.
    case refused(path: String)
    /// The socket's mode and group keep this user out.
    case permissionDenied(path: String)
    /// The listener is neither root's, nor this user's, nor of the owner of the socket's folder.
    /// Nothing was sent.
    case foreignListener(path: String, userID: UInt32)
    /// The path does not fit into a socket address (107 bytes on Linux).
    case pathTooLong(path: String)
    /// Connected, but no whole answer came within the limit.
    case timedOut(after: Duration)
    /// The connection ended before the answer was complete.
    case connectionLost
    /// The other end speaks another major version of the contract, or none at all.
    case apiMismatch(theirs: String?)
    /// The reply is not as the contract says. `underlying` is for a bug report.
    case unreadableReply(underlying: String)
    /// The daemon said why it cannot do what was asked.
    case problem(Problem)
    /// Anything else that the system refused. `underlying` is for a bug report.
    case system(underlying: String)

    /// Translates an error of the transport; `CancellationError` is not one.
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
        // The peer died at once, and its socket was closed before the kernel was asked about it.
        case EBADF, ENOTCONN: self = .connectionLost
        default: self = .system(underlying: "errno \(code)")
        }
    }
}
