import GotchuCore
import Ledger
import LedgerTestSupport
import Testing

@testable import Payments

/// Sessions as the ledger stores them.
@Suite("Stored sessions")
struct SessionRecordTests {
    private static let states: [Session.State] = [
        .created, .advertising, .locked(by: Cast.users[1], until: Timestamp(milliseconds: 900)),
        .paid(by: Cast.users[1], at: Timestamp(milliseconds: 800)), .expired, .cancelled,
    ]

    private static func session(
        _ state: Session.State,
        memo: String? = nil,
        tip: Int64? = nil
    ) -> Session {
        Session(
            id: Cast.sessions[2],
            eid: Cast.eids[3],
            payee: Cast.users[0],
            amount: Money(minorUnits: 1_234, currency: .chf),
            memo: memo,
            reference: memo.map { "ref \($0)" },
            createdAt: Timestamp(milliseconds: 100),
            expiresAt: Timestamp(milliseconds: 1_000),
            state: state,
            version: 7,
            rotations: 3,
            tip: tip,
            refunded: state == states[3] ? 34 : 0
        )
    }

    @Test("A session in any state is read back as it was written", arguments: states)
    func roundTrip(state: Session.State) throws {
        for memo in [nil, "", "Kaffee / \"Gipfeli\" \\ \n\t é 🥐", "{}"] {
            let session = Self.session(state, memo: memo)
            let record = session.record
            #expect(try Session(record) == session)
            #expect(try Session(record).record == record)
            #expect(record.id == session.recordID && record.kind == "session")
            #expect(record.owner == Cast.users[0] && record.version == 7)
            #expect(record.createdAt == session.createdAt)
        }
    }

    @Test("A session is due when its lock ends or it expires, and never once it is over")
    func due() throws {
        let due = Self.states.map { Self.session($0).record.dueAt?.milliseconds }
        #expect(due == [1_000, 1_000, 900, nil, nil, nil])
    }

    @Test("The stored form of a session never changes")
    func canonical() throws {
        let body = Self.session(Self.states[2], memo: "a/b").record.body
        #expect(
            body == """
                {"amount":1234,"currency":"chf","eid":"0000000003","expiresAt":1000,\
                "lockedUntil":900,"memo":"a/b","payer":"user-1","reference":"ref a/b",\
                "refunded":0,"rotations":3}
                """
        )
        let paid = Self.session(Self.states[3], tip: 66).record.body
        #expect(paid.hasSuffix(#","refunded":34,"rotations":3,"tip":66}"#))
    }

    @Test("A tip is read back, and an impossible tip or refund is refused as corrupt")
    func tips() throws {
        let paid = Self.session(Self.states[3], tip: 66).record
        #expect(try Session(paid).tip == 66)
        #expect(try Session(Self.session(.advertising, tip: 0).record).tip == 0)
        Self.expectCorrupt(Self.session(.advertising, tip: 1).record)
        func body(_ old: String, _ new: String) -> Record {
            Self.record(state: "PAID", body: paid.body.replacing(old, with: new))
        }
        for tip in ["-1", "99998767", "9223372036854775807", "6.5", "\"66\"", "true", "null"] {
            Self.expectCorrupt(body(#""tip":66"#, #""tip":\#(tip)"#))
        }
        #expect(try Session(body(#""tip":66"#, #""tip":99998766"#)).tip == 99_998_766)
        #expect(try Session(body(#""refunded":34"#, #""refunded":1300"#)).refunded == 1_300)
        Self.expectCorrupt(body(#""refunded":34"#, #""refunded":1301"#))
    }

    /// Returns a record as a damaged database may contain it.
    private static func record(
        id: String = "session-2",
        kind: String = "session",
        state: String,
        body: String
    ) -> Record {
        Record(
            id: RecordID(trusted: id),
            kind: kind,
            owner: Cast.users[0],
            state: state,
            version: 7,
            createdAt: Timestamp(milliseconds: 100),
            dueAt: nil,
            body: body
        )
    }

    private static func expectCorrupt(
        _ record: Record,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let error = #expect(throws: LedgerError.self, sourceLocation: sourceLocation) {
            try Session(record)
        }
        #expect(error?.code == .corrupt, sourceLocation: sourceLocation)
    }

    @Test("A body that is not a session's is refused")
    func corruptBodies() throws {
        let good = Self.session(.advertising).record.body
        #expect(throws: Never.self) {
            try Session(Self.record(state: "ADVERTISING", body: good))
        }
        let changes = [
            ("{", ""), ("\"amount\":1234,", ""), ("1234", "12.5"), ("1234", "\"1234\""),
            ("1234", "0"), ("1234", "-500"), ("1234", "100000001"), ("1234", "9223372036854775808"),
            ("\"expiresAt\":1000", "\"expiresAt\":100"), ("\"refunded\":0", "\"refunded\":1"),
            ("chf", "xyz"), ("chf", "CHF"),
            ("0000000003", "000000003"), ("0000000003", "00000000zz"), ("\"eid\"", "\"EID\""),
            ("\"rotations\":3", "\"rotations\":null"), (",\"refunded\":0", ""),
            ("\"amount\":1234,", "\"amount\":1234,\"amount\":1234,"),
            ("\"refunded\":0", "\"refunded\":0,\"refunded\":0"),
            ("\"amount\":1234,\"currency\":\"chf\"", "\"currency\":\"chf\",\"amount\":1234"),
            ("\"rotations\":3", "\"rotations\":3,\"x\":1"),
        ]
        for (text, other) in changes {
            let body = good.replacing(text, with: other)
            #expect(body != good, "\(text) is in \(good)")
            Self.expectCorrupt(Self.record(state: "ADVERTISING", body: body))
        }
        for body in ["", "null", "[]", "{}", good + good] {
            Self.expectCorrupt(Self.record(state: "ADVERTISING", body: body))
        }
    }

    @Test("A record with another kind, an invalid id or an unknown state is refused")
    func corruptColumns() throws {
        let body = Self.session(.advertising).record.body
        Self.expectCorrupt(Self.record(kind: "deposit", state: "ADVERTISING", body: body))
        Self.expectCorrupt(Self.record(id: "", state: "ADVERTISING", body: body))
        Self.expectCorrupt(Self.record(id: "a b", state: "ADVERTISING", body: body))
        for state in ["", "advertising", "OTHER"] {
            Self.expectCorrupt(Self.record(state: state, body: body))
        }
    }

    @Test("A state with another state's details is refused")
    func corruptStates() throws {
        let names = ["CREATED", "ADVERTISING", "LOCKED", "PAID", "TIMEOUT", "CANCEL"]
        // These four states have no details, so each can be read with the body of another.
        let plain: Set = [0, 1, 4, 5]
        for (index, state) in Self.states.enumerated() {
            let body = Self.session(state).record.body
            for (other, name) in names.enumerated() {
                let record = Self.record(state: name, body: body)
                if index == other || (plain.contains(index) && plain.contains(other)) {
                    #expect(try Session(record).status.rawValue == name)
                } else {
                    Self.expectCorrupt(record)
                }
            }
        }
    }

    @Test("Every command on a session that cannot be read is refused and changes nothing")
    func unreadable() {
        var rig = Rig()
        rig.bring(to: .locked)
        let id = RecordID(Cast.sessions[0])
        rig.books.rows.records[id] = Self.record(id: "session-0", state: "LOCKED", body: "{}")
        let before = rig.books
        let actions: [Step.Action] = [
            .lock(session: 0, user: 2), .unlock(session: 0, user: 1), .cancel(session: 0, user: 0),
            .rotate(session: 0, user: 0, eid: 5, replaces: 0), .expire(session: 0),
            .send(session: 0, user: 1, key: 0, expected: nil),
            .refund(session: 0, user: 0, key: 0, amount: nil),
        ]
        for action in actions {
            let answer = rig.submit(action)
            #expect(answer.reason == .unreadable && !answer.isRemembered)
        }
        #expect(rig.books == before)
    }
}
