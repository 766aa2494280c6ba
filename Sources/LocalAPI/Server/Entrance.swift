package import GotchuAPI
package import HTTPTypes
package import HummingbirdCore
package import NIOCore

/// A way to reach the daemon: its socket, or a port of this machine.
package protocol Entrance: Sendable {
    /// The lowest level at which callers are answered.
    var lowestLevel: AccessLevel { get }
    /// Headers to add to each reply that does not have them.
    var headers: HTTPFields { get }

    /// Refuses requests that may not use this entrance, whoever the caller is.
    func admit(_ request: HTTPRequest, on channel: any Channel) throws(Problem)

    /// Returns the caller as the kernel reports it, or `nil`; no future if there is no socket.
    func peer(of channel: any Channel) -> EventLoopFuture<Peer?>?

    /// Returns the reply for a problem.
    func reply(_ problem: Problem, to request: Request) -> Response
}

/// The Unix socket: for programs of listed users, not for web pages.
struct SocketEntrance: Entrance {
    let lowestLevel = AccessLevel.observer
    let headers: HTTPFields = [.cacheControl: "no-store"]

    func admit(_ request: HTTPRequest, on channel: any Channel) throws(Problem) {
        try BrowserGuard.admit(request)
    }

    func peer(of channel: any Channel) -> EventLoopFuture<Peer?>? { Peer.query(of: channel) }

    func reply(_ problem: Problem, to request: Request) -> Response { .problem(problem) }
}
