package import GotchuAPI
import GotchuCore
import NIOHTTP1

extension PaymentClient {
    /// Makes a contest call. The document in the reply is not changed.
    ///
    /// - Returns: The document. If the caller's copy is current, it has no bytes. If the reply is
    ///   not the document of the call, `.unknown` with `unreadable`. Refused with a contest code.
    ///   After `.unknown` of a call that moves money, retry only with the same bytes and key.
    package func contest(_ call: ContestCall) async -> Answer<ContestAnswer> {
        let raw = await raw(
            HTTPMethod(rawValue: call.method.rawValue),
            "/api/contests\(call.path)",
            body: call.body,
            headers: call.headers,
            limit: call.document?.limit ?? Self.replyLimit
        )
        guard case .success(let reply) = raw else { return counted(raw.map(Self.contestAnswer)) }
        let isExpected =
            if reply.isUnchanged || call.document == nil {
                reply.bytes.isEmpty
            } else { call.document.map { isDocument($0, reply.bytes) } ?? false }
        guard isExpected else {
            return counted(
                .unknown(Outage(.unreadable, underlying: "a reply that is another document"))
            )
        }
        return counted(.success(Self.contestAnswer(reply)))
    }

    private static func contestAnswer(_ reply: RawReply) -> ContestAnswer {
        ContestAnswer(
            bytes: reply.bytes.isEmpty ? nil : reply.bytes,
            tag: reply.tag,
            isReplay: reply.isReplay
        )
    }

    private func isDocument(_ type: any ContestDocument.Type, _ bytes: [UInt8]) -> Bool {
        (try? JSONReader.decode(type, bytes))?.isValid ?? false
    }
}
