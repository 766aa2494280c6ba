import Foundation
import GotchuAPI
import GotchuCore
import TestSupport
import Testing

@testable import LocalAPI

@Suite("Events that are written where they are published", .timeLimit(.minutes(hangLimit)))
struct EventSocketTests {
    /// A reader of the hub at the end of a real socket.
    private struct Connected {
        let reader: EventReader
        let socket: EventSocket
        private let ends: Ends

        private final class Ends: Sendable {
            let far: Int32
            init(far: Int32) { self.far = far }
            deinit { close(far) }
        }

        /// - Parameter room: About how many bytes the kernel keeps; `nil` for as many as usual.
        init(
            _ hub: EventHub,
            levels: Set<AccessLevel> = [.observer],
            room: Int32? = nil
        ) throws {
            var ends: [Int32] = [-1, -1]
            try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
            if var room {
                let size = socklen_t(MemoryLayout<Int32>.size)
                setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &room, size)
            }
            socket = try #require(EventSocket(duplicating: ends[0]))
            close(ends[0])
            self.ends = Ends(far: ends[1])
            reader = try #require(hub.subscribe(levels: levels, userID: 0))
        }

        /// All that has been written; `nil` at the end.
        func read() -> String? {
            var all: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 64 * 1024)
            while true {
                let count = recv(ends.far, &buffer, buffer.count, Int32(MSG_DONTWAIT))
                if count > 0 { all += buffer[..<count] }
                if count == 0, all.isEmpty { return nil }
                if count <= 0 { return String(decoding: all, as: UTF8.self) }
            }
        }

        /// The EIDs that were told lost, one chunk or many.
        func eids() -> [String] {
            (read() ?? "").matches(of: /"eid":"([0-9a-f]+)"/).map { String($0.output.1) }
        }
    }

    private static func chunk(_ lines: [String]) -> String {
        let text = lines.map { $0 + "\n" }.joined()
        return String(text.utf8.count, radix: 16) + "\r\n" + text + "\r\n"
    }

    private static func line(_ eid: EID) -> String { #"{"eid":"\#(eid)","event":"session_lost"}"# }

    @Test("an event is in the reader's socket when it has been published, several are one chunk")
    func direct() throws {
        let hub = EventHub()
        let one = try Connected(hub)
        one.reader.handOver(one.socket)
        let eids = (0..<3).map { _ in EID.random() }
        hub.publish(.presenceLost(eids[0]))
        #expect(one.read() == Self.chunk([Self.line(eids[0])]))
        hub.publish(eids.count) { .presenceLost(eids[$0]) }
        #expect(one.read() == Self.chunk(eids.map(Self.line)))
        hub.beat()
        #expect(one.read() == "1\r\n\n\r\n")
        #expect(hub.counts.published == 4)
        #expect(hub.counts.lag.count == 4)
    }

    @Test("money is written only to those who may see it")
    func visibility() throws {
        let hub = EventHub()
        let observer = try Connected(hub)
        observer.reader.handOver(observer.socket)
        let cashier = try Connected(hub, levels: [.observer, .cashier])
        cashier.reader.handOver(cashier.socket)
        let eid = EID.random()
        let request = Event.requestChanged(try RequestView.sample())
        hub.publish(2) { $0 == 0 ? request : .presenceLost(eid) }
        #expect(observer.read() == Self.chunk([Self.line(eid)]))
        #expect(cashier.read()?.contains("request") == true)
        hub.publish(request)
        #expect(observer.read() == "")
    }

    @Test("what finds no room waits for the reader's task, in order, and is counted beyond a limit")
    func slow() async throws {
        let hub = EventHub()
        let slow = try Connected(hub, room: 8 * 1024)
        slow.reader.handOver(slow.socket)
        let eids = (0..<EventHub.eventLimit + 500).map { _ in EID.random() }
        for eid in eids { hub.publish(.presenceLost(eid)) }
        let dropped = hub.counts.dropped
        #expect(dropped > 0)
        var told = slow.eids()
        let direct = told.count
        #expect(direct > 0)
        // There is room again, but nothing goes past what waits.
        slow.reader.handOver(slow.socket)
        hub.publish(.presenceLost(eids[0]))
        hub.beat()
        #expect(slow.read() == "")
        var iterator = slow.reader.makeAsyncIterator()
        for _ in 0..<EventHub.eventLimit {
            let delivery = try #require(await iterator.next())
            slow.reader.noteWritten(delivery)
            guard case .presenceLost(let eid)? = delivery.event else {
                Issue.record("the oldest are kept")
                return
            }
            told.append("\(eid)")
        }
        #expect(told == eids.prefix(told.count).map(String.init(describing:)))
        #expect(told.count + dropped == eids.count)
        // First of all it is told how many are lost.
        slow.reader.handOver(slow.socket)
        hub.beat()
        let mark = try #require(await iterator.next())
        #expect(mark.event == .lagged(dropped + 1))
        slow.reader.noteWritten(mark)
        slow.reader.handOver(slow.socket)
        hub.publish(.presenceLost(eids[1]))
        #expect(slow.eids() == ["\(eids[1])"])
    }

    @Test("a tick's news is cut into pieces that are taken wholly or not at all, and none is torn")
    func long() async throws {
        let hub = EventHub()
        // Room for the first piece of what Linux would cut, and not for all of it.
        let slow = try Connected(hub, room: 64 * 1024)
        slow.reader.handOver(slow.socket)
        let eids = (0..<4_000).map { _ in EID.random() }
        hub.publish(eids.count) { .presenceLost(eids[$0]) }
        var told = slow.eids()
        #expect(!told.isEmpty)
        slow.reader.end()
        for await delivery in slow.reader {
            guard case .presenceLost(let eid)? = delivery.event else { continue }
            told.append("\(eid)")
        }
        #expect(hub.counts.dropped > 0)
        #expect(told == eids.prefix(eids.count - hub.counts.dropped).map(String.init(describing:)))
        // The connection goes on.
        #expect(slow.read() == "")
    }

    @Test("an event that is too long for one piece waits for the reader's task, and is not cut")
    func tooLong() async throws {
        let hub = EventHub()
        let one = try Connected(hub, levels: [.observer, .cashier])
        one.reader.handOver(one.socket)
        var request = try RequestView.sample()
        request.reason = String(repeating: "x", count: 40_000)
        let eid = EID.random()
        hub.publish(3) { $0 == 1 ? .requestChanged(request) : .presenceLost(eid) }
        #expect(one.read() == Self.chunk([Self.line(eid)]))
        var iterator = one.reader.makeAsyncIterator()
        #expect(await iterator.next()?.event == .requestChanged(request))
        #expect(await iterator.next()?.event == .presenceLost(eid))
    }

    @Test("many readers are not written where an event is published, and get all in order")
    func many() throws {
        let hub = EventHub()
        var readers = try (0...EventHub.directLimit).map { _ in try Connected(hub) }
        for one in readers { one.reader.handOver(one.socket) }
        let eids = (0..<4).map { _ in EID.random() }
        hub.publish(.presenceLost(eids[0]))
        hub.publish(.presenceLost(eids[1]))
        #expect(readers.allSatisfy { $0.read() == "" })
        // Nothing goes past what waits, and who comes now gets what comes now.
        readers.removeLast().reader.end()
        readers.removeLast().reader.end()
        hub.publish(.presenceLost(eids[2]))
        let late = try Connected(hub)
        late.reader.handOver(late.socket)
        #expect(readers.allSatisfy { $0.read() == "" })
        hub.writeBacklog()
        #expect(readers.allSatisfy { $0.eids() == eids.prefix(3).map(String.init(describing:)) })
        hub.publish(.presenceLost(eids[3]))
        #expect((readers + [late]).allSatisfy { $0.eids() == ["\(eids[3])"] })
    }

    @Test("what many readers are too many for is lost beyond a limit, and they are told in order")
    func tooMany() async throws {
        let hub = EventHub()
        let readers = try (0...EventHub.directLimit).map { _ in try Connected(hub) }
        for one in readers { one.reader.handOver(one.socket) }
        let eids = (0..<EventHub.backlogLimit + 5).map { _ in EID.random() }
        for eid in eids { hub.publish(.presenceLost(eid)) }
        hub.writeBacklog()
        #expect(hub.counts.dropped == 5 * readers.count)
        hub.publish(.presenceLost(eids[0]))
        hub.writeBacklog()
        for one in readers {
            #expect(one.eids() == eids.prefix(EventHub.backlogLimit).map(String.init(describing:)))
            one.reader.end()
            var events: [Event?] = []
            for await delivery in one.reader { events.append(delivery.event) }
            #expect(events == [.lagged(5), .presenceLost(eids[0])])
        }
    }

    @Test("a chunk that found room only for its beginning is the last")
    func partial() throws {
        let hub = EventHub()
        let slow = try Connected(hub, room: 1)
        slow.reader.handOver(slow.socket)
        hub.publish(400) { _ in .presenceLost(.random()) }
        let beginning = try #require(slow.read())
        #expect(!beginning.isEmpty && !beginning.hasSuffix("\r\n"))
        #expect(slow.read() == nil)
    }

    @Test("a reader that is gone costs nothing but itself")
    func gone() throws {
        let hub = EventHub()
        let here = try Connected(hub)
        here.reader.handOver(here.socket)
        var gone: Connected? = try Connected(hub)
        let socket = gone?.socket
        let reader = gone?.reader
        if let socket { reader?.handOver(socket) }
        gone = nil
        let eid = EID.random()
        hub.publish(.presenceLost(eid))
        #expect(here.eids() == ["\(eid)"])
        #expect(hub.counts.readers == 2)
        reader?.end()
        #expect(hub.counts.readers == 1)
    }
}
