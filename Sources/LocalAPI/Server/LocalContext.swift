import GotchuAPI
import HTTPTypes
package import Hummingbird
package import NIOCore

/// One request to the daemon, with its caller.
package struct LocalContext: RequestContext {
    /// The maximum size of a request body, in bytes.
    static let bodyLimit = 64 * 1024

    package var coreContext: CoreRequestContextStorage
    package let channel: any Channel
    /// The caller's levels. The outermost middleware sets them before any route runs.
    var levels: Set<AccessLevel> = []
    /// The peer, and the policy that determined its levels.
    var caller: (peer: Peer, policy: AccessPolicy)?

    package var maxUploadSize: Int { Self.bodyLimit }

    package init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
    }

    /// The caller's user id.
    package var userID: UInt32 {
        get throws(Problem) {
            guard let caller else { throw .unknownCaller }
            return caller.peer.userID
        }
    }

    /// Returns the problem for a caller that lacks a level.
    func refusal(of level: AccessLevel) -> Problem {
        guard let caller else {
            return .unknownCaller
        }
        return caller.policy.refusal(of: level, to: caller.peer)
    }
}
