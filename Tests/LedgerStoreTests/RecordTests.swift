import GotchuCore
import Ledger
import LedgerStore
import LedgerTestSupport
import TestSupport
import Testing

/// Records with children, listings of records, and the leases of due records.
@Suite("Records")
struct RecordTests {
    @Test("A command on a record can change all of its children", arguments: StoreKind.all)
    func children(kind: StoreKind) async throws {
        let database = try await SampleLedger.database(kind)
        let store = try database.open()
        for number in 0..<2 { _ = try await store.commit(OpenBox(number: number, children: 3)) }
        _ = try await store.commit(OpenBox(children: 9))
        let closed = try await store.commit(CloseChildren(number: 0)).get()
        #expect(closed == (1...12).map { OpenBox.child($0, of: 0).rawValue })
        #expect(try await store.commit(CloseChildren(number: 7)).get() == [])
        let page = try await store.children(of: OpenBox.id(0), after: 9, limit: 2)
        #expect(page.map(\.number) == [10, 11])
        #expect(page.map(\.record.state) == ["CLOSED", "CLOSED"])
        let others = try await store.children(of: OpenBox.id(1), after: 0, limit: 9)
        #expect(others.map(\.record.id) == (1...3).map { OpenBox.child($0, of: 1) })
        #expect(others.map(\.record.state) == ["OPEN", "OPEN", "OPEN"])
        #expect(try await store.children(of: OpenBox.id(7), after: 0, limit: 9) == [])
        #expect(try database.audit().findings.compactMap(\.violation) == [])
    }

    @Test(
        "The audit finds a missing child, a child of two parents, and an account without an owner",
        arguments: StoreKind.all
    )
    func damaged(kind: StoreKind) async throws {
        for (sql, broken) in [
            (
                "INSERT INTO children VALUES ('box-0', 4, 'box-0-4')",
                ["record box-0-4 is missing"]
            ),
            (
                "INSERT INTO children VALUES ('box-0', 4, 'box-1-1')",
                ["record box-1-1 has two parents", "box box-0 has the children [1, 2, 3, 4]"]
            ),
            (
                "INSERT INTO accounts VALUES ('pot:box-9', 'usd', 0, 0, 0, 1)",
                ["record box-9 has a pot, but is missing"]
            ),
            (
                "INSERT INTO accounts VALUES ('OWED:user-9', 'usd', 0, 0, 0, 1)",
                ["owner user-9 is missing"]
            ),
            ("INSERT INTO accounts VALUES ('TAKE:user-1', 'usd', 0, 0, 0, 1)", []),
        ] as [(String, [String])] {
            let database = try await SampleLedger.database(kind)
            let store = try database.open()
            for number in 0..<2 { _ = try await store.commit(OpenBox(number: number, children: 3)) }
            try database.execute(sql)
            #expect(try database.audit().findings.compactMap(\.violation) == broken, "\(sql)")
        }
    }

    @Test(
        "The database refuses an OWED balance above zero, and a TAKE or pot balance below zero",
        arguments: StoreKind.single
    )
    func floors(kind: StoreKind) async throws {
        let database = try await SampleLedger.database(kind)
        for (owner, balance) in [("TAKE:user-1", -1), ("OWED:user-1", 1), ("pot:session-1", -1)] {
            #expect(throws: (any Error).self) {
                try database.execute(
                    "INSERT INTO accounts VALUES ('\(owner)', 'usd', \(balance), 0, 0, 1)"
                )
            }
        }
        try database.execute("INSERT INTO accounts VALUES ('OWED:user-1', 'usd', -1, 0, 0, 1)")
    }

    @Test(
        "Records of a kind are listed newest first; sessions are never listed",
        arguments: StoreKind.all
    )
    func listed(kind: StoreKind) async throws {
        let database = try await SampleLedger.database(kind)
        let store = try database.open()
        for number in 0..<4 { _ = try await store.commit(OpenBox(number: number)) }
        func list(_ owner: UserID?, _ kind: String, before: Int?) async throws -> [String] {
            let page = RecordPage(
                of: owner,
                kind: kind,
                before: before.map(OpenBox.id),
                limit: 2
            )
            return try await store.records(page).map(\.id.rawValue)
        }
        for owner in [Cast.users[0], nil] {
            #expect(try await list(owner, "box", before: nil) == ["box-3", "box-2"])
            #expect(try await list(owner, "box", before: 2) == ["box-1", "box-0"])
            #expect(try await list(owner, "box", before: 0) == [])
            #expect(try await list(owner, "session", before: nil) == [])
        }
        #expect(try await list(Cast.users[1], "box", before: nil) == [])
        #expect(try database.audit().isClean)
    }

    @Test("A name has one holder at a time, and is free once it expires", arguments: StoreKind.all)
    func claims(kind: StoreKind) async throws {
        let database = try await SampleLedger.database(kind)
        let store = try database.open()
        func claim(_ user: Int, until: Int64?, at time: Int64) async throws -> Bool {
            try await store.commit(
                ClaimName("place", for: "user-\(user)", until: until, at: time)
            ).get()
        }
        #expect(try await claim(0, until: 2_000, at: 1_000))
        #expect(try await !claim(1, until: nil, at: 1_999))
        #expect(try await claim(0, until: 3_000, at: 1_999))
        #expect(try await !claim(1, until: nil, at: 2_999))
        #expect(try await claim(1, until: nil, at: 3_000))
        #expect(try await !claim(0, until: nil, at: 9_000))
        _ = try await store.commit(ClaimName(releasing: "place", at: 9_000))
        #expect(try await claim(0, until: nil, at: 9_000))
        #expect(try database.texts("SELECT target FROM names WHERE name = 'place'") == ["user-0"])
        #expect(try database.audit().isClean)
    }

    @Test(
        "Exactly one of two servers that claim a new or expired name at the same time gets it",
        arguments: StoreKind.shared
    )
    func claimedAtOnce(kind: StoreKind) async throws {
        let database = try await SampleLedger.database(kind)
        let stores = try (0..<2).map { _ in try database.open() }
        _ = try await stores[0].commit(ClaimName("place", for: "user-0", until: 1))
        for round in 0..<10 {
            let got = try await withThrowingTaskGroup(of: Bool.self) { group in
                for user in 0..<2 {
                    group.addTask {
                        let text = round.isMultiple(of: 2) ? "place" : "place-\(round)"
                        let claim = ClaimName(
                            text,
                            for: "user-\(user)",
                            until: Int64(round + 2) * 1_000,
                            at: Int64(round + 1) * 1_000
                        )
                        return try await stores[user].commit(claim).get()
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(got.count { $0 } == 1, "round \(round)")
        }
        #expect(try database.audit().isClean)
    }

    @Test(
        "A due record is leased to one worker, until the lease ends or its due time changes",
        arguments: StoreKind.all
    )
    func leases(kind: StoreKind) async throws {
        let database = try await SampleLedger.database(kind)
        let store = try database.open()
        for number in 0..<3 {
            _ = try await store.commit(OpenBox(number: number, dueAt: 1_000 - Int64(number)))
        }
        func claim(at time: Int64, limit: Int = 9) async throws -> [String] {
            try await store.claimDue(
                kind: OpenBox.kind,
                at: Timestamp(milliseconds: time),
                until: Timestamp(milliseconds: time + 10),
                limit: limit
            ).map(\.id.rawValue)
        }
        #expect(try await claim(at: 997) == [])
        #expect(try await claim(at: 1_000, limit: 2) == ["box-2", "box-1"])
        #expect(try await claim(at: 1_009) == ["box-0"])
        #expect(try await claim(at: 1_010) == ["box-2", "box-1"])
        _ = try await store.commit(OpenBox(number: 1, dueAt: 900))
        #expect(try await claim(at: 1_011) == ["box-1"])
        _ = try await store.commit(OpenBox(number: 1))
        #expect(try await claim(at: 2_000) == ["box-2", "box-0"])
        // `due` leaves out the excluded kinds. The sweep excludes the kinds that workers claim.
        let time = Timestamp(milliseconds: 61_000)
        let all = try await store.due(at: time, excluding: [], skipping: 0, limit: 9)
        #expect(all.map(\.kind) == ["box", "box", "session"])
        let swept = try await store.due(at: time, excluding: ["box"], skipping: 0, limit: 9)
        #expect(swept.map(\.kind) == ["session"])
        #expect(try database.audit().isClean)
    }

    @Test("Two servers that claim at once never get the same record", arguments: StoreKind.shared)
    func leasedAtOnce(kind: StoreKind) async throws {
        let database = try await SampleLedger.database(kind)
        let stores = try (0..<2).map { _ in try database.open() }
        for number in 0..<20 { _ = try await stores[0].commit(OpenBox(number: number, dueAt: 1)) }
        let got = try await withThrowingTaskGroup(of: [DueRecord].self) { group in
            for store in stores + stores {
                group.addTask {
                    try await store.claimDue(
                        kind: OpenBox.kind,
                        at: Timestamp(milliseconds: 2),
                        until: Timestamp(milliseconds: 9),
                        limit: 20
                    )
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(got.count == 20 && Set(got.map(\.id)).count == 20)
    }
}
