internal import Hummingbird
internal import Logging
internal import NIOCore

/// The values that accompany a request.
struct ServerContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The id by which support finds this request in the log.
    var requestID = ""
    /// The peer's address, for limits; behind a trusted proxy the address that it forwards.
    var client: ClientAddress

    init(source: Source) {
        coreContext = .init(source: source)
        client = ClientAddress(source.channel.remoteAddress)
    }

    /// The log with the request's id. Made on demand: most requests log nothing.
    var log: Logger { Self.log(logger, requestID) }

    static func log(_ logger: Logger, _ requestID: String) -> Logger {
        var log = logger
        log[metadataKey: "request-id"] = "\(requestID)"
        return log
    }
}
