import GotchuAPI
import HTTPTypes
import HummingbirdCore
import LocalAPI
import NIOCore
import NIOPosix
import Pages

/// A port of 127.0.0.1: pages of its own origin, in a browser of a user who may see them.
struct ScreenEntrance: Entrance {
    let lowestLevel: AccessLevel
    let headers = HTTPFields(policy: .screen)

    func admit(_ request: HTTPRequest, on channel: any Channel) throws(Problem) {
        guard let port = channel.localAddress?.port else {
            throw Problem(.notPermitted, detail: "The kernel does not say who is calling.")
        }
        try ScreenGate(port: port).admit(request)
    }

    func peer(of channel: any Channel) -> EventLoopFuture<Peer?>? {
        guard let client = channel.remoteAddress, let server = channel.localAddress,
            let peer = TCPPeer(client: client, server: server)
        else { return channel.eventLoop.makeSucceededFuture(nil) }
        // The kernel writes its whole table: not on the event loop.
        return NIOThreadPool.singleton.runIfActive(eventLoop: channel.eventLoop) {
            peer.userID().map { Peer(userID: $0, groupID: nil) }
        }
    }

    func reply(_ problem: Problem, to request: Request) -> Response {
        // A browser that shows a page; a script asks for something else.
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
