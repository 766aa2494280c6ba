package import GotchuAPI
package import HTTPTypes
package import HummingbirdCore
package import NIOCore

/// A way into the daemon: its socket, or a port of this machine.
package protocol Entrance: Sendable {
    /// The level without which nothing is answered.
    var lowestLevel: AccessLevel { get }
    /// Headers of every reply that has none of the name.
    var headers: HTTPFields { get }

    /// Refuses requests that must not come this way, from any caller.
    func admit(_ request: HTTPRequest, on channel: any Channel) throws(Problem)

    /// The caller by the kernel's word, `nil` if that names none; no future for what is no socket.
    func peer(of channel: any Channel) -> EventLoopFuture<Peer?>?

    /// The reply that tells a caller of a problem.
    func reply(_ problem: Problem, to request: Request) -> Response
}

/// The Unix socket: programs of listed users, and no pages of a browser.
struct SocketEntrance: Entrance {
    let lowestLevel = AccessLevel.observer
    let headers: HTTPFields = [.cacheControl: "no-store"]

    func admit(_ request: HTTPRequest, on channel: any Channel) throws(Problem) {
        try BrowserGuard.admit(request)
    }

    func peer(of channel: any Channel) -> EventLoopFuture<Peer?>? { Peer.asked(of: channel) }

    func reply(_ problem: Problem, to request: Request) -> Response { .problem(problem) }
}
