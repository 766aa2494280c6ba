import GotchuAPI
import HTTPTypes
import HummingbirdCore
import LocalAPI
import NIOCore
import Pages

/// The access checks of a port on 127.0.0.1. They admit its own pages, in browsers of permitted
/// users.
struct ScreenEntrance: Entrance {
    let lowestLevel: AccessLevel
    let headers = HTTPFields(policy: .screen)

    func admit(_ request: HTTPRequest, on channel: any Channel) throws(Problem) {
        guard let port = channel.localAddress?.port else {
            throw .unknownCaller
        }
        try SameOriginCheck(port: port).admit(request)
    }

    func peer(of channel: any Channel) -> EventLoopFuture<Peer?>? {
        var peer: Peer?
        if let client = channel.remoteAddress, let server = channel.localAddress,
            let userID = TCPPeer.userID(client: client, server: server)
        {
            peer = Peer(userID: userID, groupID: nil)
        }
        return channel.eventLoop.makeSucceededFuture(peer)
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
