import TestSupport
import Testing

@testable import PaymentClient

@Suite("Server-sent events")
struct ServerSentEventTests {
    private let stream =
        "retry: 2000\n\nid: 1\nevent: session\ndata: {\"a\":1}\n\n: alive\n\n"
        + "data: one\r\ndata: two\r\n\r\ndata:tight\r\rdata: never ended"

    @Test("A stream has the same events, regardless of the parts in which its bytes arrive")
    func split() throws {
        var generator = SeededGenerator("server-sent events")
        for _ in 0..<500 {
            var parser = ServerSentEventParser(lineLimit: 1000)
            var events: [String] = []
            var rest = Array(stream.utf8)[...]
            while !rest.isEmpty {
                let count = Int.random(in: 1...rest.count, using: &generator)
                events += try parser.add(rest.prefix(count)).map {
                    String(decoding: $0, as: UTF8.self)
                }
                rest = rest.dropFirst(count)
            }
            #expect(events == ["{\"a\":1}", "one\ntwo", "tight"])
        }
    }

    @Test("An event that is longer than the limit is refused")
    func tooLong() {
        #expect(throws: ServerSentEventParser.TooLong.self) {
            var parser = ServerSentEventParser(lineLimit: 10)
            _ = try parser.add(Array("data: 0123456789".utf8))
        }
        #expect(throws: ServerSentEventParser.TooLong.self) {
            var parser = ServerSentEventParser(lineLimit: 10)
            for _ in 0..<4 { _ = try parser.add(Array("data:0123\n".utf8)) }
        }
    }
}
