import AsyncHTTPClient
import GotchuAPI
import GotchuCore
import NIOCore
import NIOHTTP1

extension PaymentClient {
    /// A successful reply before its body is decoded.
    struct RawReply {
        let bytes: [UInt8]
        /// The reply's `ETag`.
        let tag: String?
        let isReplay: Bool
        /// A Boolean that is true if the server has confirmed that the caller's copy of the
        /// document is current.
        let isUnchanged: Bool
    }

    /// - Parameter limit: The maximum length of a text in the reply, in bytes.
    func decode<Reply: Decodable & Sendable>(
        _ answer: Answer<RawReply>,
        textLimit limit: Int = textLimit
    ) -> Answer<Reply> {
        counted(read(answer, textLimit: limit))
    }

    /// Passes the outcome to `onAnswer`, and returns the answer unchanged.
    func counted<Reply>(_ reply: Answer<Reply>) -> Answer<Reply> {
        switch reply {
        case .success, .refused, .unauthorized: onAnswer(nil)
        case .unknown(let outage): onAnswer(outage)
        }
        return reply
    }

    func read<Reply: Decodable & Sendable>(
        _ answer: Answer<RawReply>,
        textLimit limit: Int = textLimit
    ) -> Answer<Reply> {
        switch answer {
        case .success(let raw):
            guard let reply = try? JSONReader.decode(Reply.self, raw.bytes, textLimit: limit)
            else {
                return .unknown(Outage(.unreadable, underlying: "a reply that cannot be decoded"))
            }
            return .success(reply)
        case .refused(let problem): return .refused(problem)
        case .unauthorized(let problem): return .unauthorized(problem)
        case .unknown(let outage): return .unknown(outage)
        }
    }

    /// Makes one call.
    ///
    /// - Parameter limit: The maximum size of the reply, in bytes.
    func execute(_ request: HTTPClientRequest, limit: Int) async -> Answer<RawReply> {
        do {
            return try await withTimeout(Self.callLimit) {
                let response = try await http.execute(
                    request,
                    timeout: .nanoseconds(Self.callLimit.wholeMilliseconds * 1_000_000)
                )
                let bytes = [UInt8](buffer: try await response.body.collect(upTo: limit))
                let isReplay = response.headers.first(name: IdempotencyHeader.replayed) == "true"
                let tag = response.headers.first(name: "ETag")
                if response.status == .notModified, request.headers.contains(name: "If-None-Match")
                {
                    return .success(
                        RawReply(bytes: bytes, tag: tag, isReplay: false, isUnchanged: true)
                    )
                }
                return Self.classify(
                    status: Int(response.status.code),
                    body: bytes,
                    retryAfter: response.headers.first(name: "Retry-After"),
                    isReplay: isReplay
                ).map {
                    RawReply(bytes: $0, tag: tag, isReplay: isReplay, isUnchanged: false)
                }
            }
        } catch {
            return .unknown(Self.outage(of: error, limit: limit))
        }
    }
}
