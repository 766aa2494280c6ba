internal import NIOCore
internal import NIOHTTP1

/// A request that names no host, or several.
struct HostUnclear: Error {}

/// What HTTP/1.1 asks of the heads of requests and answers that nobody behind this looks at: a
/// request names one host (RFC 9112, 3.2), waits for leave to send its body if it says so
/// (RFC 9110, 10.1.1), and may be the last of its connection (RFC 9112, 9.3), as each of HTTP/1.0
/// is.
final class HeadRules: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private static let close = "close"

    /// Requests whose answer has not ended.
    private var unanswered = 0
    /// The version of the request after which nothing is read, once it has come.
    private var lastVersion: HTTPVersion?
    /// Whether what comes belongs to no request that was let through.
    private var isDeaf = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isDeaf else { return }
        switch unwrapInboundIn(data) {
        case .head(let head): read(head, context)
        case .body: context.fireChannelRead(data)
        case .end:
            if lastVersion != nil { isDeaf = true }
            context.fireChannelRead(data)
        }
    }

    private func read(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        guard Self.namesItsHost(head) else {
            isDeaf = true
            return context.fireErrorCaught(HostUnclear())
        }
        unanswered += 1
        var head = head
        let isOld = head.version == .http1_0
        if isOld || !head.isKeepAlive {
            lastVersion = head.version
            // One spelling of it is understood behind this.
            head.headers.replaceOrAdd(name: "Connection", value: Self.close)
        }
        // Nobody waits for ever: who asked and hears nothing sends his body after a while. Behind
        // others whose answers are still to come it would be taken for one of them.
        if !isOld, unanswered == 1, Self.waitsForLeave(head) {
            let leave = HTTPResponseHead(version: .http1_1, status: .continue)
            context.writeAndFlush(wrapOutboundOut(.head(leave)), promise: nil)
        }
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head):
            // The version of the last request is also that of its answer: HTTP/1.0 knows no chunks.
            if let lastVersion, unanswered == 1 {
                head.headers.replaceOrAdd(name: "Connection", value: Self.close)
                head.version = lastVersion
                return context.write(wrapOutboundOut(.head(head)), promise: promise)
            }
        case .body: break
        case .end: unanswered -= 1
        }
        context.write(data, promise: promise)
    }

    /// Two hosts are one for whoever stands before us and another for us. HTTP/1.0 has none.
    private static func namesItsHost(_ head: HTTPRequestHead) -> Bool {
        var count = 0
        for (name, value) in head.headers where isHost(name) {
            guard value.utf8.allSatisfy(isOfHost) else { return false }
            count += 1
        }
        return count == 1 || count == 0 && head.version == .http1_0
    }

    private static func isHost(_ name: String) -> Bool {
        name.utf8.count == 4 && name.lowercased() == "host"
    }

    /// What a host and its port may be written with (RFC 3986, 3.2.2); nothing that would end them.
    private static func isOfHost(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "@"),
            UInt8(ascii: "\\"), UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"):
            false
        case 0x21...0x7E: true
        default: false  // SAFETY: bytes are numbers; no other belongs to a host.
        }
    }

    private static func waitsForLeave(_ head: HTTPRequestHead) -> Bool {
        head.headers.contains { name, value in
            name.utf8.count == 6 && name.lowercased() == "expect"
                && value.lowercased() == "100-continue"
        }
    }
}
