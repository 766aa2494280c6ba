import Foundation
import GotchuAPI
import GotchuCore
import NIOCore
import TestSupport
import Testing

@testable import LocalAPI

@Suite("The event hub")
struct EventHubTests {
    private static let everything: Set<EventTopic> = [
        .status, .sessions, .requests, .refunds, .payments,
    ]

    private func eids(_ count: Int) -> [EID] { (0..<count).map { _ in EID.random() } }

    @Test("A reader gets the events of several calls in order")
    func order() throws {
        let hub = EventHub()
        let reader = try #require(hub.subscribe(topics: Self.everything, userID: 0))
        let eids = eids(4)
        hub.publish(.presenceLost(eids[0]))
        hub.publish(eids[1...].map { .presenceLost($0) })
        #expect(try reader.pop().events == eids.map { .presenceLost($0) })
        #expect(try reader.pop().events.isEmpty)
        #expect(hub.counts.published == 4)
    }

    @Test("A slow reader loses the newest events, and then gets the number of lost events")
    func lagged() throws {
        let hub = EventHub()
        let slow = try #require(hub.subscribe(topics: Self.everything, userID: 0))
        let eids = eids(EventReader.eventLimit + 10)
        hub.publish(eids.dropLast().map { .presenceLost($0) })
        hub.publish(.presenceLost(eids[eids.count - 1]))
        #expect(hub.counts.dropped == 10)
        let pending = slow.pop()
        let kept = eids.prefix(EventReader.eventLimit).map { Event.presenceLost($0) }
        #expect(try pending.events == kept + [.lagged(10)])
        hub.recordWritten(pending)
        #expect(hub.counts.lags == 1 && hub.counts.lag.count == kept.count)
        // The loss is reported once, and later events arrive as before.
        hub.publish(.presenceLost(eids[0]))
        #expect(try slow.pop().events == [.presenceLost(eids[0])])
    }

    @Test("A slow reader does not delay other readers")
    func others() throws {
        let hub = EventHub()
        _ = try #require(hub.subscribe(topics: Self.everything, userID: 0))
        let quick = try #require(hub.subscribe(topics: Self.everything, userID: 0))
        for eid in eids(EventReader.eventLimit * 2) {
            hub.publish(.presenceLost(eid))
            #expect(try quick.pop().events == [.presenceLost(eid)])
        }
        #expect(hub.counts.dropped == EventReader.eventLimit)
    }

    @Test("A heartbeat is an empty line, and is omitted before an event")
    func signOfLife() throws {
        let hub = EventHub()
        let reader = try #require(hub.subscribe(topics: Self.everything, userID: 0))
        #expect(reader.pop().buffer.readableBytes == 0)
        hub.sendHeartbeat()
        #expect(String(buffer: reader.pop().buffer) == "\n")
        hub.sendHeartbeat()
        hub.publish(.lagged(1))
        #expect(String(buffer: reader.pop().buffer).hasPrefix("{"))
    }

    @Test("A reader gets the topics that its level permits, and sessions only on request")
    func topics() throws {
        let hub = EventHub()
        let request = Event.requestChanged(try RequestView.sample())
        let lost = Event.presenceLost(.random())
        for (levels, wantsSessions, wanted) in [
            ([.observer], false, []), ([.observer], true, [lost]),
            ([.observer, .cashier], false, [request]),
            ([.observer, .spender], true, [lost]),
            (Set(AccessLevel.allCases), true, [lost, request]),
        ] as [(Set<AccessLevel>, Bool, [Event])] {
            let topics = EventTopic.readable(by: levels, wantsSessions: wantsSessions)
            let reader = try #require(hub.subscribe(topics: topics, userID: 0))
            #expect(hub.hasSessionReaders == wantsSessions)
            hub.publish([lost, request])
            #expect(try reader.pop().events == wanted)
            reader.end()
        }
    }

    @Test("A reader of refunds gets no other payments, and a reader of payments gets both")
    func refunds() throws {
        let hub = EventHub()
        let events = try [PaymentView.Kind.refund, nil].map { kind in
            Event.paymentChanged(try PaymentView.sample(kind))
        }
        let till = try #require(hub.subscribe(topics: [.refunds], userID: 0))
        let spender = EventTopic.readable(by: [.spender], wantsSessions: false)
        let payer = try #require(hub.subscribe(topics: spender, userID: 0))
        hub.publish(events)
        #expect(try till.pop().events == [events[0]])
        #expect(try payer.pop().events == events)
    }

    @Test("An event is not created if the hub has no reader")
    func nobody() {
        let hub = EventHub()
        func make() -> Event {
            Issue.record("The event is created")
            return .lagged(1)
        }
        hub.publish(make())
        #expect(hub.counts.published == 0)
    }

    @Test("A reader that has ended gets nothing more, and frees a place for its user")
    func userLimit() throws {
        let hub = EventHub()
        let readers = (0..<EventHub.userLimit).map { _ in hub.subscribe(topics: [], userID: 1) }
        #expect(readers.allSatisfy { $0 != nil })
        #expect(hub.subscribe(topics: [], userID: 1) == nil)
        #expect(hub.subscribe(topics: [], userID: 2) != nil)
        readers.first??.end()
        #expect(hub.subscribe(topics: [], userID: 1) != nil)
        hub.endReaders()
        #expect(hub.counts.readers == 0)
    }

    @Test("The number of readers of all users together is limited")
    func readerLimit() throws {
        // Two users at their limits leave some places to other users, as docs/local-api.md says.
        #expect(EventHub.userLimit == 128 && EventHub.readerLimit == 320)
        let hub = EventHub()
        let users = (0..<UInt32(EventHub.readerLimit)).map { $0 / 100 }
        let readers = users.map { hub.subscribe(topics: [], userID: $0) }
        #expect(readers.allSatisfy { $0 != nil })
        #expect(hub.subscribe(topics: [], userID: 99) == nil)
        readers.last??.end()
        #expect(hub.subscribe(topics: [], userID: 99) != nil)
    }

    @Test("Events are decoded from their JSON lines unchanged")
    func roundTrip() throws {
        for event in [
            .presenceLost(.random()), .lagged(3), .requestChanged(try RequestView.sample()),
        ] as [Event] {
            let line = EventLine.bytes(of: event)
            #expect(line.last == UInt8(ascii: "\n"))
            #expect(try JSONDecoder().decode(Event.self, from: Data(line)) == event)
        }
    }
}

extension EventReader.Pending {
    /// The events that the lines contain.
    fileprivate var events: [Event] {
        get throws {
            try String(buffer: buffer).split(separator: "\n").map {
                try JSONDecoder().decode(Event.self, from: Data($0.utf8))
            }
        }
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

extension PaymentView {
    static func sample(_ kind: Kind?) throws -> PaymentView {
        PaymentView(
            id: "p",
            kind: kind,
            state: .sending,
            sid: try #require(SessionID(rawValue: "s")),
            eid: nil,
            amountCents: 5000,
            currency: .usd,
            payee: "Corner Cafe",
            createdAt: Timestamp(milliseconds: 0),
            updatedAt: Timestamp(milliseconds: 0),
            code: nil,
            detail: "The money is on its way.",
            nextStep: nil,
            newBalanceCents: nil,
            transferID: nil
        )
    }
}
