import HTTPTypes
import Hummingbird
import NIOCore

/// One request on the daemon's socket, and who sent it.
struct LocalContext: RequestContext {
    /// The largest body that is read, in bytes.
    static let bodyLimit = 64 * 1024

    var coreContext: CoreRequestContextStorage
    let channel: any Channel
    /// Set by the outermost middleware, before any route runs.
    var levels: Set<AccessLevel> = []
    var peer: Peer?

    var maxUploadSize: Int { Self.bodyLimit }

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
    }
}
