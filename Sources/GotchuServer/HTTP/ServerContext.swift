internal import Hummingbird
internal import Logging
internal import NIOCore

/// The values that accompany a request.
struct ServerContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The name under which support finds this request in the log.
    var requestID = ""
    /// The peer's address, for limits; behind a proxy of ours, that of whom it speaks for.
    var client: ClientAddress

    init(source: Source) {
        coreContext = .init(source: source)
        client = ClientAddress(source.channel.remoteAddress)
    }

    /// The log with the request's name in it. Made when there is something to say: most requests
    /// have nothing.
    var log: Logger { Self.log(logger, requestID) }

    static func log(_ logger: Logger, _ requestID: String) -> Logger {
        var log = logger
        log[metadataKey: "request-id"] = "\(requestID)"
        return log
    }
}
