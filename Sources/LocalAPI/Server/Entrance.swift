package import GotchuAPI
package import HTTPTypes
package import HummingbirdCore
package import NIOCore

/// A way to reach the daemon: its socket, or a port on this machine.
package protocol Entrance: Sendable {
    /// The lowest level that a caller needs at this entrance.
    var lowestLevel: AccessLevel { get }
    /// The headers that are added to each reply, unless the reply has them.
    var headers: HTTPFields { get }

    /// Throws if a request may not use this entrance. The caller's levels are checked elsewhere.
    func admit(_ request: HTTPRequest, on channel: any Channel) throws(Problem)

    /// Returns the caller as the kernel reports it; a future of `nil` if the kernel reports none.
    /// Returns no future if there is no socket.
    func peer(of channel: any Channel) -> EventLoopFuture<Peer?>?

    func reply(_ problem: Problem, to request: Request) -> Response
}

/// The Unix socket. It admits programs of listed users, but no web pages.
struct SocketEntrance: Entrance {
    let lowestLevel = AccessLevel.observer
    let headers: HTTPFields = [.cacheControl: "no-store"]

    func admit(_ request: HTTPRequest, on channel: any Channel) throws(Problem) {
        try BrowserGuard.admit(request)
    }

    func peer(of channel: any Channel) -> EventLoopFuture<Peer?>? { Peer.query(of: channel) }

    func reply(_ problem: Problem, to request: Request) -> Response { .problem(problem) }
}

extension Problem {
    /// The problem of a caller whom the kernel does not name. For a port on this machine, it must
    /// have the module `tcp_diag`.
    package static let unknownCaller = Problem(
        .notPermitted,
        detail: "The kernel does not say who is calling.",
        fix: "sudo modprobe tcp_diag"
    )
}
