import GotchuAPI
import HTTPTypes
import Hummingbird
import NIOCore

/// One request on the daemon's socket, with its caller.
struct LocalContext: RequestContext {
    /// The largest body that is read, in bytes.
    static let bodyLimit = 64 * 1024

    var coreContext: CoreRequestContextStorage
    let channel: any Channel
    /// Set by the outermost middleware, before any route runs.
    var levels: Set<AccessLevel> = []
    /// The peer, and the policy by which it has its levels.
    var caller: (peer: Peer, policy: AccessPolicy)?

    var maxUploadSize: Int { Self.bodyLimit }

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
    }

    /// The problem of a caller that lacks a level.
    func refusal(of level: AccessLevel) -> Problem {
        guard let caller else {
            return Problem(.notPermitted, detail: "The kernel does not say who is calling.")
        }
        return caller.policy.refusal(of: level, to: caller.peer)
    }
}
