import GotchuAPI
import HTTPTypes
import HummingbirdCore
import Ledger
import NIOCore
import Testing

@testable import GotchuServer

@Suite("Replies")
struct ReplyTests {
    @Test(
        "a payment's is what an encoder would write",
        arguments: [0, 1, -1, .max, .min] as [Int64],
        [nil, 0, 100] as [Int64?]
    )
    func paid(balance: Int64, tip: Int64?) async throws {
        let transfer = RecordID.make().rawValue
        let usual = try Reply.json(
            SendReply(
                ok: true,
                newBalanceCents: WireInteger(balance),
                tipCents: tip.map(WireInteger.init),
                transferID: transfer
            )
        )
        let short = Reply.paid(transfer, newBalance: balance, tip: tip)
        #expect(short.status == usual.status && short.headers == usual.headers)
        #expect(try await bytes(of: short.response) == bytes(of: usual))
    }

    private func bytes(of response: Response) async throws -> [UInt8] {
        let writer = Collector()
        try await response.body.write(writer)
        return Array(writer.buffer.readableBytesView)
    }
}

private final class Collector: ResponseBodyWriter {
    private(set) var buffer = ByteBuffer()

    func write(_ buffer: ByteBuffer) async throws {
        self.buffer.writeImmutableBuffer(buffer)
    }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
}
