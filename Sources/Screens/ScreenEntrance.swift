import GotchuAPI
import HTTPTypes
import HummingbirdCore
import LocalAPI
import NIOCore
import NIOPosix
import Pages

/// The access checks of a port on 127.0.0.1. They admit its own pages, in browsers of permitted
/// users.
struct ScreenEntrance: Entrance {
    let lowestLevel: AccessLevel
    let headers = HTTPFields(policy: .screen)

    func admit(_ request: HTTPRequest, on channel: any Channel) throws(Problem) {
        guard let port = channel.localAddress?.port else {
            throw Problem(.notPermitted, detail: "The kernel does not say who is calling.")
        }
        try SameOriginCheck(port: port).admit(request)
    }

    func peer(of channel: any Channel) -> EventLoopFuture<Peer?>? {
        guard let client = channel.remoteAddress, let server = channel.localAddress,
            let peer = TCPPeer(client: client, server: server)
        else { return channel.eventLoop.makeSucceededFuture(nil) }
        // The kernel generates the whole table for this read, which is too slow for the event loop.
        return NIOThreadPool.singleton.runIfActive(eventLoop: channel.eventLoop) {
            peer.userID().map { Peer(userID: $0, groupID: nil) }
        }
    }

    func reply(_ problem: Problem, to request: Request) -> Response {
        // A browser that opens a page accepts HTML; a script accepts something else.
        guard request.headers[.accept]?.contains("text/html") == true else {
            return .problem(problem)
        }
        let page = NoticePage(title: problem.title, text: problem.detail, fix: problem.fix)
        return .page(page.html, status: .init(code: problem.status))
    }
}

extension HTTPFields {
    init(policy: PagePolicy) {
        self.init()
        for (name, value) in policy.headers { self[.valid(name)] = value }
    }
}
