import GotchuCore
import LedgerTestSupport
import Payments
import Testing

@testable import Ledger

/// The rules of `verify`. They find each kind of damage and describe it.
@Suite("Rules of the ledger")
struct LedgerRulesTests {
    private let rules = LedgerRules([.opening, .wager, .payoff, .tribute, .rebate])

    /// Returns a tribute of 5 from the first user to the second. Both had 10 before.
    private func tribute(_ change: (inout Draft) -> Void = { _ in }) -> Transfer {
        var draft = Draft()
        change(&draft)
        return draft.transfer
    }

    /// A transfer that a thief could write into the database.
    private struct Draft {
        var step = "tribute"
        var kind = "TRIBUTE"
        var entryKind = "TRIBUTE"
        var lines: [(Account.Key, Int64)] = [(Post.user(0), -5), (Post.user(1), 5)]

        var transfer: Transfer {
            let key = Transfer.Key(Post.record, step)
            return Transfer(
                key: key,
                kind: kind,
                at: Timestamp(milliseconds: 1_000),
                entries: lines.map { account, amount in
                    Entry(
                        account: account,
                        number: 2,
                        transfer: key,
                        kind: entryKind,
                        at: Timestamp(milliseconds: 1_000),
                        amount: amount,
                        balance: 10 &+ amount,
                        earned: 0
                    )
                }
            )
        }
    }

    private func expect(
        _ transfer: Transfer,
        _ broken: String?,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let found = rules.broken(transfer, storedHash: transfer.hash)
        #expect(found == broken, sourceLocation: sourceLocation)
    }

    @Test("A valid transfer breaks no rule")
    func right() throws {
        expect(tribute(), nil)
        var books = Post.books([1, 2, 3], pot: 30)
        let lines = [(Post.pot, Int64(-30))] + (0..<3).map { (Post.user($0), Int64(10)) }
        let release = try books.post(
            .payoff,
            lines,
            record: Post.record,
            step: "release",
            at: Timestamp(milliseconds: 0)
        )
        expect(release, nil)
    }

    @Test("A transfer of an unknown kind, or with a step or entries of another kind, is found")
    func kind() {
        expect(
            tribute { $0.kind = "GIFT" },
            "transfer tribute of record-1 is GIFT, which is no kind"
        )
        expect(tribute { $0.step = "paid" }, "transfer paid of record-1 is no step of TRIBUTE")
        expect(
            tribute { $0.entryKind = "REBATE" },
            "transfer tribute of record-1: its entries are not those of one TRIBUTE"
        )
    }

    @Test("A transfer whose entries do not sum to zero is found")
    func sum() {
        let name = "transfer tribute of record-1"
        expect(
            tribute { $0.lines = [(Post.user(0), -5), (Post.user(1), 6)] },
            "\(name): 2 entries, sum [1]"
        )
        expect(tribute { $0.lines = [(Post.user(1), 5)] }, "\(name): 1 entries, sum [5]")
        expect(tribute { $0.lines = [] }, "\(name): 0 entries, sum []")
        let euros = Account.Key(Post.user(1).owner, .eur)
        expect(
            tribute { $0.lines = [(Post.user(0), -5), (euros, 5)] },
            "\(name): 2 entries, sum [-5, 5]"
        )
        expect(
            tribute { $0.lines = [(Post.user(0), .min), (Post.user(1), -1)] },
            "\(name): its entries do not add up"
        )
        expect(
            tribute { $0.lines = [(Post.user(0), .max), (Post.user(1), 1)] },
            "\(name): its entries do not add up"
        )
    }

    @Test("A transfer that moves money of another record's pot is found")
    func foreignPot() {
        let pot = Account.Key(.pot(RecordID(trusted: "record-2")), .usd)
        let transfer = tribute {
            ($0.kind, $0.entryKind, $0.step) = ("PAYOFF", "PAYOFF", "release")
            $0.lines = [(pot, -5), (Post.user(1), 5)]
        }
        expect(
            transfer,
            "transfer release of record-1 moves money of the pot of record-2"
        )
    }

    @Test("An entry that moves nothing is found")
    func nothing() {
        expect(
            tribute { $0.lines.append((Post.user(2), 0)) },
            "transfer tribute of record-1: its entries are not those of one TRIBUTE"
        )
    }

    @Test("An account that the kind of transfer does not allow is found on either side")
    func party() {
        let name = "transfer tribute of record-1: TRIBUTE does not move money of"
        expect(tribute { $0.lines = [(Cast.mint, -5), (Post.user(1), 5)] }, "\(name) DEV_MINT")
        expect(tribute { $0.lines = [(Post.user(1), -5), (Post.pot, 5)] }, "\(name) pot:record-1")
    }

    @Test("Two entries of one account are found")
    func account() {
        expect(
            tribute { $0.lines = [(Post.user(0), -5), (Post.user(1), 2), (Post.user(1), 3)] },
            "transfer tribute of record-1: its entries are not those of one TRIBUTE"
        )
    }

    @Test("A transfer that differs from what was sealed is found")
    func hash() {
        let other = tribute { $0.lines = [(Post.user(0), -6), (Post.user(1), 6)] }
        #expect(
            rules.broken(other, storedHash: tribute().hash)
                == "transfer tribute of record-1 is not what was sealed"
        )
        #expect(rules.broken(tribute(), storedHash: []) != nil)
    }

    @Test("A transfer without its record, or with too few or too many answers, is found")
    func answers() throws {
        var rig = Rig()
        rig.bring(to: .paid)
        let rules = LedgerRules([.opening, .payment, .refund])
        let payment = try #require(rig.books.transfers.values.first { $0.kind == "PAYMENT" })
        let opening = try #require(rig.books.transfers.values.first { $0.kind == "OPENING" })
        let answer = try #require(rig.books.rows.answers.values.first)
        #expect(rules.broken(payment, answeredBy: [answer], isRecorded: true) == nil)
        #expect(rules.broken(opening, answeredBy: [], isRecorded: false) == nil)
        let name = "transfer paid of session-0"
        let lost = rules.broken(payment, answeredBy: [answer], isRecorded: false)
        #expect(lost == "\(name) is about nothing")
        #expect(rules.broken(payment, answeredBy: [], isRecorded: true) == "\(name) has 0 answers")
        let twice = rules.broken(payment, answeredBy: [answer, answer], isRecorded: true)
        #expect(twice == "\(name) has 2 answers")
        #expect(
            rules.broken(opening, answeredBy: [answer], isRecorded: false)
                == "transfer opening of \(opening.key.record) has 1 answers"
        )
    }
}

/// The entries of one account, checked in their order.
@Suite("The entries of an account")
struct AccountRunTests {
    private let rules = LedgerRules([.opening, .tribute, .rebate])

    private struct Line {
        var number: Int64
        var kind = "TRIBUTE"
        var amount: Int64
        var balance: Int64
        var earned: Int64
        var at: Int64 = 1_000
    }

    /// 10 earned, 4 paid, 3 refunded: balance 3, earnings 7.
    private let right = [
        Line(number: 1, amount: 10, balance: 10, earned: 10),
        Line(number: 2, amount: -4, balance: 6, earned: 10),
        Line(number: 3, kind: "REBATE", amount: -3, balance: 3, earned: 7, at: 2_000),
    ]

    private func entry(_ line: Line, of account: Account.Key) -> Entry {
        Entry(
            account: account,
            number: line.number,
            transfer: Transfer.Key(Post.record, "step/\(line.number)"),
            kind: line.kind,
            at: Timestamp(milliseconds: line.at),
            amount: line.amount,
            balance: line.balance,
            earned: line.earned
        )
    }

    /// Returns the first broken rule in the lines of an account.
    private func damage(_ lines: [Line], of account: Account.Key = Post.user(0)) -> String? {
        var run = AccountRun(account, rules)
        for line in lines {
            if let broken = run.follow(entry(line, of: account)) { return broken }
        }
        return nil
    }

    private func damage(changing index: Int, _ change: (inout Line) -> Void) -> String? {
        var lines = right
        change(&lines[index])
        return damage(lines)
    }

    @Test("Entries that follow each other break no rule")
    func follow() {
        #expect(damage(right) == nil)
        #expect(damage([]) == nil)
    }

    @Test("A missing or a repeated entry is found")
    func gap() {
        #expect(
            damage([right[0], right[2]]) == "entry 3 of user-0: entry 2 is missing before it"
        )
        #expect(
            damage([right[1], right[2]]) == "entry 2 of user-0: entry 1 is missing before it"
        )
        #expect(
            damage([right[0], right[0]]) == "entry 1 of user-0: entry 2 is missing before it"
        )
    }

    @Test("A balance that is not the sum of the amounts is found")
    func balance() {
        #expect(
            damage(changing: 1) { $0.balance = 7 } == "entry 2 of user-0: balance 7, expected 6"
        )
        #expect(
            damage(changing: 0) { $0.amount = 11 } == "entry 1 of user-0: balance 10, expected 11"
        )
        let last = Line(number: 2, amount: .max, balance: .min + 9, earned: .min + 9)
        #expect(damage([right[0], last])?.hasPrefix("entry 2 of user-0: balance ") == true)
    }

    @Test("Wrong earnings are found")
    func earned() {
        #expect(
            damage(changing: 1) { $0.earned = 6 } == "entry 2 of user-0: earned 6, expected 10"
        )
        #expect(
            damage(changing: 2) { $0.earned = 10 } == "entry 3 of user-0: earned 10, expected 7"
        )
        #expect(
            damage(changing: 0) { $0.kind = "OPENING" }
                == "entry 1 of user-0: earned 10, expected 0"
        )
    }

    @Test("A balance below zero is found, except on an account of the house")
    func belowZero() {
        let debt = [Line(number: 1, kind: "OPENING", amount: -4, balance: -4, earned: 0)]
        #expect(damage(debt) == "entry 1 of user-0: balance -4")
        #expect(damage(debt, of: Post.pot) == "entry 1 of pot:record-1: balance -4")
        #expect(damage(debt, of: Cast.mint) == nil)
    }

    @Test("An entry that is older than the one before it is found")
    func time() {
        let broken = damage(changing: 2) { $0.at = 999 }
        #expect(broken == "entry 3 of user-0 is older than the one before it")
        #expect(damage(changing: 2) { $0.at = 1_000 } == nil)
    }

    @Test("An account that is not the sum of its entries, or is missing, is found")
    func account() {
        let key = Post.user(0)
        func broken(_ account: Account?) -> String? {
            var run = AccountRun(key, rules)
            for line in right { #expect(run.follow(entry(line, of: key)) == nil) }
            return run.broken(account)
        }
        func account(
            balance: Int64 = 3,
            earned: Int64 = 7,
            count: Int64 = 3,
            at: Int64 = 2_000
        ) -> Account {
            Account(
                key,
                balance: balance,
                earned: earned,
                entryCount: count,
                changedAt: Timestamp(milliseconds: at)
            )
        }
        #expect(broken(account()) == nil)
        #expect(broken(nil) == "account of user-0 is missing")
        let expected = "account of user-0: balance 4 of 3 entries, expected 3 of 3"
        #expect(broken(account(balance: 4)) == expected)
        #expect(broken(account(earned: 6)) != nil)
        #expect(broken(account(count: 2)) != nil)
        #expect(broken(account(at: 1_999)) != nil)
        let empty = Account(key, changedAt: Timestamp(milliseconds: 5))
        #expect(AccountRun(key, rules).broken(empty) == nil)
        #expect(AccountRun(key, rules).broken(account()) != nil)
    }
}
