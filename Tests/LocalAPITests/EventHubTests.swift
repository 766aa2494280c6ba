import FoundationEssentials
import GotchuAPI
import GotchuCore
import HummingbirdCore
import TestSupport
import Testing

@testable import LocalAPI

@Suite("The event hub")
struct EventHubTests {
    @Test("a slow reader is told how many events it missed, and waits for nobody")
    func lagged() async throws {
        let hub = EventHub()
        let slow = try #require(hub.subscribe(levels: [.observer], userID: 0))
        let eids = (0..<EventHub.eventLimit + 10).map { _ in EID.random() }
        for eid in eids { hub.publish(.presenceLost(eid)) }
        #expect(hub.counts.dropped == 10)
        #expect(hub.counts.published == eids.count)
        var iterator = slow.makeAsyncIterator()
        for eid in eids.prefix(EventHub.eventLimit) {
            let delivery = await iterator.next()
            #expect(delivery?.event == .presenceLost(eid))
        }
        hub.publish(.presenceLost(eids[0]))
        let mark = await iterator.next()
        #expect(mark?.event == .lagged(10))
        slow.noteWritten(try #require(mark))
        #expect(hub.counts.lags == 1)
        let next = await iterator.next()
        #expect(next?.event == .presenceLost(eids[0]))
    }

    @Test("money is shown only to those who may see it")
    func visibility() async throws {
        let hub = EventHub()
        let observer = try #require(hub.subscribe(levels: [.observer], userID: 0))
        let cashier = try #require(hub.subscribe(levels: [.observer, .cashier], userID: 0))
        let event = Event.requestChanged(try RequestView.sample())
        hub.publish(event)
        let eid = EID.random()
        hub.publish(.presenceLost(eid))
        var observed = observer.makeAsyncIterator()
        let first = await observed.next()
        #expect(first?.event == .presenceLost(eid))
        var seen = cashier.makeAsyncIterator()
        let request = await seen.next()
        guard case .requestChanged = request?.event else {
            Issue.record("a cashier sees requests")
            return
        }
    }

    @Test("a user has no more readers than his share, and one that leaves makes room")
    func userLimit() throws {
        let hub = EventHub()
        var readers = (0..<EventHub.userLimit).map { _ in hub.subscribe(levels: [], userID: 1) }
        #expect(readers.allSatisfy { $0 != nil })
        #expect(hub.subscribe(levels: [], userID: 1) == nil)
        #expect(hub.subscribe(levels: [], userID: 2) != nil)
        readers.removeAll()
        #expect(hub.subscribe(levels: [], userID: 1) != nil)
    }

    @Test("there are no more readers than the limit, whosever they are")
    func readerLimit() throws {
        // Two users with all that they may have leave some to a third, as docs/local-api.md says.
        #expect(EventHub.userLimit == 128 && EventHub.readerLimit == 320)
        let hub = EventHub()
        let users = (0..<UInt32(EventHub.readerLimit)).map { $0 / 100 }
        var readers = users.map { hub.subscribe(levels: [], userID: $0) }
        #expect(readers.allSatisfy { $0 != nil })
        #expect(hub.subscribe(levels: [], userID: 99) == nil)
        readers.removeLast()
        #expect(hub.subscribe(levels: [], userID: 99) != nil)
    }

    @Test("every event survives its JSON line")
    func roundTrip() throws {
        let events: [Event] = [
            .presenceLost(.random()), .lagged(3), .requestChanged(try RequestView.sample()),
        ]
        for event in events {
            let line = CanonicalJSON.bytes(of: event)
            #expect(try JSONDecoder().decode(Event.self, from: Data(line)) == event)
        }
    }

    @Test(
        "an event that is written the quick way is the same to the byte",
        arguments: ["hci0", "a \"b\" \\ / c", "\u{0}\u{8}\t\n\u{c}\r\u{1f}\u{7f}", "Zürich 🦆"]
    )
    func quickLine(_ text: String) throws {
        let full = PresenceView(
            eid: .random(),
            verdict: .ambiguous,
            rssiDBm: -127,
            smoothedDBm: -58.3,
            marginDB: -0.1,
            carrier: .localName,
            adapter: text,
            firstHeardAt: Timestamp(milliseconds: 951_782_400_000),
            lastHeardAt: Timestamp(milliseconds: 1_795_253_513_009),
            rateHz: 0.2,
            reason: text
        )
        var scarce = full
        (scarce.rssiDBm, scarce.smoothedDBm, scarce.marginDB) = (nil, nil, nil)
        var round = full
        (round.smoothedDBm, round.marginDB, round.rateHz) = (-60, 0, 1_000_000)
        var events = [full, scarce, round].map(Event.presenceChanged)
        events.append(.presenceLost(.random()))
        for event in events {
            let quick = try #require(event.quickLine)
            let usual = CanonicalJSON.bytes(of: event) + [UInt8(ascii: "\n")]
            #expect(quick == usual, "\(String(decoding: usual, as: UTF8.self))")
        }
        #expect(Event.lagged(1).quickLine == nil)
    }
}

extension RequestView {
    static func sample() throws -> RequestView {
        RequestView(
            id: try #require(SessionID(rawValue: "s")),
            eid: .random(),
            state: .advertising,
            amountCents: 5000,
            currency: .usd,
            memo: nil,
            createdAt: Timestamp(milliseconds: 0),
            expiresAt: Timestamp(milliseconds: 1000),
            paidAt: nil,
            isOnAir: true,
            reason: "Waiting for a payer."
        )
    }
}
