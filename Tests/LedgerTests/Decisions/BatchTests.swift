import GotchuCore
import Ledger
import LedgerTestSupport
import Payments
import Testing

/// The rows that a batch loads and writes, and the commands that wait for locked rows.
@Suite("Batches")
struct BatchTests {
    /// Returns a rig with two locked sessions, and a payment of each. The payer of the first
    /// session is the payee of the second.
    private func payments() -> (rig: Rig, commands: [Submitted]) {
        var rig = Rig()
        rig.bring(to: .locked)
        rig.submit(.create(session: 1, payee: 1, amount: 3, seconds: 300, proposesTaken: false))
        rig.submit(.lock(session: 1, user: 2))
        let commands = [(0, 1), (1, 2)].map { session, user in
            rig.submission(of: .send(session: session, user: user, key: 0, expected: nil))
        }
        return (rig, commands)
    }

    @Test("A command waits if another transaction has locked its record, and other commands do not")
    func heldRecord() throws {
        let (rig, commands) = payments()
        let batch = Batch(commands)
        var rows = rig.books.load(batch)
        rows.records[RecordID(Cast.sessions[0])] = nil
        rows.lockedElsewhere.records = [RecordID(Cast.sessions[0])]
        let effects = batch.decide(on: rows)
        #expect(commands[0].answer == nil)
        #expect(commands[0].submission.succeed() == .undecided)
        #expect(commands[1].answer?.payment != nil)
        #expect(effects.transfers.map(\.key.record) == [RecordID(Cast.sessions[1])])
        #expect(effects.answers.count == 1)
    }

    @Test("A payment waits while another transaction has locked its payer's or payee's account")
    func heldAccounts() throws {
        let (rig, commands) = payments()
        for (user, decided) in [(0, [false, true]), (1, [false, false]), (2, [true, false])] {
            let batch = Batch(commands)
            var rows = rig.books.load(batch)
            rows.accounts[Cast.account(user)] = nil
            rows.lockedElsewhere.owners = [Cast.account(user).owner]
            _ = batch.decide(on: rows)
            // If the account counted as missing, a refusal would be remembered.
            #expect(commands.map { $0.answer != nil } == decided, "user \(user)")
            #expect(commands.allSatisfy { $0.answer?.reason == nil }, "user \(user)")
        }
    }

    @Test("A command that waited is decided when its batch is tried again")
    func heldThenDecided() throws {
        let (rig, commands) = payments()
        let batch = Batch(commands)
        var rows = rig.books.load(batch)
        rows.lockedElsewhere.records = [RecordID(Cast.sessions[0])]
        _ = batch.decide(on: rows)
        #expect(commands[0].answer == nil)
        let effects = batch.decide(on: rig.books.load(batch))
        #expect(commands.allSatisfy { $0.answer?.payment != nil })
        #expect(effects.transfers.count == 2)
    }

    @Test("A payment is loaded in one round, by its key, its payer and its record")
    func oneRound() {
        let (_, commands) = payments()
        var expected = Footprint()
        expected.answers = [
            Answer.Key(user: Cast.users[1], command: "pay", key: Cast.keys[0])
        ]
        expected.owners = [Cast.account(1).owner]
        expected.records = [RecordID(Cast.sessions[0])]
        expected.ownedRecords = expected.records
        expected.needsNewestSeal = true
        #expect(Batch([commands[0]]).footprint(knowing: nil) == expected)
        expected.needsNewestSeal = false
        #expect(Batch([commands[0]], tail: .origin).footprint(knowing: nil) == expected)
    }

    @Test(
        "Only a refund and an account opening load a second round of rows, and no command a third"
    )
    func rounds() {
        var rig = Rig()
        rig.bring(to: .paid)
        let actions: [(Step.Action, Bool)] = [
            (.open(user: 0), true), (.refund(session: 0, user: 0, key: 0, amount: nil), true),
            (.create(session: 1, payee: 0, amount: 1, seconds: 1, proposesTaken: false), false),
            (.lock(session: 0, user: 1), false), (.unlock(session: 0, user: 1), false),
            (.cancel(session: 0, user: 0), false), (.expire(session: 0), false),
            (.rotate(session: 0, user: 0, eid: 5, replaces: 0), false),
            (.send(session: 0, user: 1, key: 0, expected: nil), false),
        ]
        for (action, needsAnotherRound) in actions {
            let batch = Batch([rig.submission(of: action)])
            #expect(
                batch.footprint(knowing: nil).needsAnotherRound == needsAnotherRound,
                "\(action)"
            )
            #expect(!batch.footprint(knowing: rig.books.load(batch)).needsAnotherRound, "\(action)")
        }
    }

    @Test("Rows are written in the order of their keys, independent of the commands' order")
    func order() {
        var rig = Rig()
        let users = ["d", "a", "c", "b"].map { name in
            Submitted(
                OpenAccount(
                    login: name,
                    displayName: name,
                    opening: Money(minorUnits: 1),
                    user: UserID(trusted: name)
                ),
                at: Timestamp(milliseconds: 1_000)
            )
        }
        let opened = rig.commit(users)
        #expect(opened.accounts.map(\.key.owner.rawValue) == ["DEV_MINT", "a", "b", "c", "d"])
        #expect(opened.names.map(\.text) == ["login:a", "login:b", "login:c", "login:d"])
        let sessions = [2, 0, 3, 1].map { number in
            let action = Step.Action.create(
                session: number,
                payee: number % 3,
                amount: 1,
                seconds: 9,
                proposesTaken: false
            )
            return rig.submission(of: action)
        }
        let created = rig.commit(sessions)
        #expect(created.records.map(\.id.rawValue) == Cast.sessions.map(\.rawValue))
        #expect(created.names.map(\.text) == (0..<4).map { "eid:000000000\($0)" })
    }

    @Test("A name that is given to a second target ends the program")
    func claimedName() async {
        await #expect(processExitsWith: .failure) {
            var books = Books(Snapshot())
            books.put(Name("eid:1", target: "session-1"))
            books.put(Name("eid:1", target: "session-2"))
        }
    }
}
