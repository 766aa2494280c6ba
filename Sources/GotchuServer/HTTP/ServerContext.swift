internal import Hummingbird
internal import Logging
internal import NIOCore

struct ServerContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The id that support uses to find this request in the log.
    var requestID = ""
    /// The client's address for rate limits. Behind a trusted proxy it is the address that the
    /// proxy forwards.
    var client: ClientAddress

    init(source: Source) {
        coreContext = .init(source: source)
        client = ClientAddress(source.channel.remoteAddress)
    }

    /// The logger with the request's id. It is created at each use: most requests log nothing.
    var log: Logger { Self.log(logger, requestID) }

    static func log(_ logger: Logger, _ requestID: String) -> Logger {
        var log = logger
        log[metadataKey: "request-id"] = "\(requestID)"
        return log
    }
}
