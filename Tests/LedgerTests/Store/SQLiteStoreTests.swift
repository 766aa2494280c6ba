import Foundation
import GotchuCore
import SQLite
import TestSupport
import Testing

@testable import Ledger

@Suite("The SQLite store")
struct SQLiteStoreTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test("stories come to the same as in memory, survive a restart, and leave clean books")
    func stories() async throws {
        var teller = StoryTeller(seed: runSeed)
        for number in 0..<40 {
            let path = folder.file("story-\(number).db")
            var memory = MemoryBooks()
            var store = try SQLiteStore(path: path)
            let story = (0..<2).map { Step(time: 0, action: .open(user: $0)) } + teller.story()
            for (index, step) in story.enumerated() {
                let command = step.command(number: index)
                let footprint = Footprint([command])
                let expected = apply([command], to: memory.load(footprint))
                memory.save(expected.effects)
                let decision = try await store.commit(touching: footprint) {
                    apply([command], to: $0)
                }
                #expect(decision == expected, "seed \(runSeed), story \(number): \(story)")
                if index == story.count / 2 { store = try SQLiteStore(path: path) }
            }
            for (id, session) in memory.rows.sessions {
                #expect(try await store.session(id) == session)
            }
            for refund in memory.rows.refunds.values {
                let footprint = Footprint(refunding: refund.key)
                let loaded = try await store.commit(touching: footprint) { rows in
                    Decision(
                        effects: Effects(),
                        answers: rows.refunds.values.map {
                            .refund(RefundAnswer(refund: $0, isReplay: true))
                        }
                    )
                }
                #expect(loaded.answers.first?.refund?.refund == refund)
            }
            for (key, send) in memory.rows.sends { #expect(try await store.send(key) == send) }
            let audit = try Audit.run(path: path)
            #expect(audit.isClean, "seed \(runSeed), story \(number): \(audit.findings)")
        }
    }

    @Test(
        "transfers and entries can be neither changed nor removed",
        arguments: [
            "UPDATE transfers SET amount = 1", "DELETE FROM transfers",
            "UPDATE entries SET amount = 1", "DELETE FROM entries",
        ]
    )
    func insertOnly(sql: String) async throws {
        let path = try await Planted.books(in: folder)
        let connection = try Connection(path: path, mode: .readWrite)
        let error = #expect(throws: SQLiteError.self) { try connection.run(sql) }
        #expect(error?.code == .constraintTrigger)
    }

    @Test("opening the same file twice changes nothing the second time")
    func migrateTwice() throws {
        let path = folder.file("twice.db")
        _ = try SQLiteStore(path: path)
        let first = try schema(of: path)
        _ = try SQLiteStore(path: path)
        #expect(try schema(of: path) == first)
        #expect(first.count > 10)
    }

    @Test("books that an older program made are brought up to date with what is in them")
    func olderBooks() async throws {
        let path = folder.file("older.db")
        let connection = try Connection(path: path, mode: .create)
        try connection.execute(Schema.steps[0])
        try connection.execute(
            """
            INSERT INTO users VALUES ('u', 'u@shop.example', 'u', 1);
            INSERT INTO wallets VALUES ('w', 'u', NULL, 'usd', 0, 0);
            INSERT INTO sessions VALUES (
                's', '0123456789', 'u', 5, 'usd', 'tea', NULL, 1, 2, 'ADVERTISING',
                NULL, NULL, NULL, 1
            );
            PRAGMA application_id = \(Schema.applicationID);
            PRAGMA user_version = 1;
            """
        )
        let store = try SQLiteStore(path: path)
        let eid = try #require(EID("0123456789"))
        let published = try await store.published(eid)
        #expect(published?.session.memo == "tea" && published?.session.rotations == 0)
        #expect(try Audit.run(path: path).isClean)
    }

    @Test("a session is found under its present EID, and under a retired one until its time")
    func retiredEID() async throws {
        let store = try SQLiteStore(path: try await Planted.books(in: folder))
        let step = Step(time: 1_000, action: .rotate(session: 1, user: 0, eid: 7, replaces: 1))
        let command = step.command(number: 50)
        _ = try await store.commit(touching: Footprint([command])) { apply([command], to: $0) }
        let present = try await store.published(Cast.eids[7])
        #expect(present?.session.id == Cast.sessions[1])
        #expect(present?.resolves(at: Timestamp(milliseconds: .max)) == true)
        let retired = try await store.published(Cast.eids[1])
        #expect(retired?.session == present?.session)
        #expect(retired?.resolves(at: Timestamp(milliseconds: 60_999)) == true)
        #expect(retired?.resolves(at: Timestamp(milliseconds: 61_000)) == false)
        #expect(try await store.published(Cast.eids[8]) == nil)
    }

    @Test("a file of a newer program, of another program, or no database at all is refused")
    func foreignFiles() throws {
        let newer = folder.file("newer.db")
        _ = try SQLiteStore(path: newer)
        try Connection(path: newer, mode: .readWrite).execute("PRAGMA user_version = 99")
        expectForeign(newer)
        let other = folder.file("other.db")
        try Connection(path: other, mode: .create).execute("CREATE TABLE notes (text TEXT)")
        expectForeign(other)
        let text = folder.file("text.db")
        try String(repeating: "not a database ", count: 100)
            .write(toFile: text, atomically: true, encoding: .utf8)
        expectForeign(text)
    }

    private func expectForeign(_ path: String) {
        let error = #expect(throws: LedgerError.self) { try SQLiteStore(path: path) }
        #expect(error?.code == .foreign)
    }

    @Test("a folder that is not there is an error that says what to do")
    func missingFolder() {
        let error = #expect(throws: LedgerError.self) {
            try SQLiteStore(path: folder.file("missing/books.db"))
        }
        #expect(error?.code == .cannotOpen)
        #expect(error?.fix != nil)
    }

    @Test(
        "a connection that would forget commits in a power cut is refused",
        arguments: [
            "PRAGMA synchronous = NORMAL", "PRAGMA synchronous = OFF", "PRAGMA foreign_keys = OFF",
            "PRAGMA journal_mode = DELETE",
        ]
    )
    func durability(pragma: String) throws {
        let connection = try Connection(path: folder.file("durable.db"), mode: .create)
        try connection.execute(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON"
        )
        try SQLiteWriter.assertDurable(connection)
        try connection.execute(pragma)
        let error = #expect(throws: LedgerError.self) {
            try SQLiteWriter.assertDurable(connection)
        }
        #expect(error?.code == .notDurable)
    }

    @Test("names with quotes, backslashes and control characters are found again")
    func awkwardNames() async throws {
        let store = try SQLiteStore(path: folder.file("names.db"))
        let names = ["a\"b", "a\\b", "a'b", "ä€😀", "a]b", "a\u{1}b"]
        for name in names {
            let open = OpenWallet(
                email: name,
                displayName: name,
                opening: Money(minorUnits: 0)
            )
            let command = Command(acceptedAt: .now, action: .openWallet(open))
            for isNew in [true, false] {
                let decision = try await store.commit(touching: Footprint([command])) {
                    apply([command], to: $0)
                }
                #expect(decision.effects.newUsers.isEmpty == !isNew, "\(name)")
            }
        }
    }

    private func schema(of path: String) throws -> [String] {
        try Connection(path: path, mode: .readOnly).query(
            "SELECT name FROM sqlite_schema ORDER BY name",
            read: { try $0.text(0) }
        )
    }
}

extension Footprint {
    fileprivate init(refunding key: SendKey) {
        self.init()
        refundKeys = [key]
    }
}
