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
        let found = rules.violation(transfer, storedHash: transfer.hash)
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
            "transfer tribute of record-1 has the unknown kind GIFT"
        )
        expect(
            tribute { $0.step = "paid" },
            "transfer paid of record-1: the kind TRIBUTE does not allow this step"
        )
        expect(
            tribute { $0.entryKind = "REBATE" },
            "transfer tribute of record-1: the entry of user-0 has the kind REBATE"
        )
    }

    @Test("A transfer whose entries do not sum to zero is found")
    func sum() {
        let name = "transfer tribute of record-1"
        expect(
            tribute { $0.lines = [(Post.user(0), -5), (Post.user(1), 6)] },
            "\(name): its entries in usd sum to 1, not to 0"
        )
        let few = "\(name) must have at least two entries, and has"
        expect(tribute { $0.lines = [(Post.user(1), 5)] }, "\(few) 1")
        expect(tribute { $0.lines = [] }, "\(few) 0")
        let euros = Account.Key(Post.user(1).owner, .eur)
        expect(
            tribute { $0.lines = [(Post.user(0), -5), (euros, 5)] },
            "\(name): its entries in eur sum to 5, not to 0"
        )
        expect(
            tribute { $0.lines = [(Post.user(0), .min), (Post.user(1), -1)] },
            "\(name): the sum of its entries overflows"
        )
        expect(
            tribute { $0.lines = [(Post.user(0), .max), (Post.user(1), 1)] },
            "\(name): the sum of its entries overflows"
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
            "transfer release of record-1: it moves money of the pot of another record, record-2"
        )
    }

    @Test("An entry that moves nothing is found")
    func nothing() {
        expect(
            tribute { $0.lines.append((Post.user(2), 0)) },
            "transfer tribute of record-1: the entry of user-2 has the amount 0"
        )
    }

    @Test("An account that the kind of transfer does not allow is found on either side")
    func party() {
        let name = "transfer tribute of record-1: the kind TRIBUTE may not"
        expect(
            tribute { $0.lines = [(Cast.mint, -5), (Post.user(1), 5)] },
            "\(name) debit DEV_MINT"
        )
        expect(
            tribute { $0.lines = [(Post.user(1), -5), (Post.pot, 5)] },
            "\(name) credit pot:record-1"
        )
    }

    @Test("Two entries of one account are found")
    func account() {
        expect(
            tribute { $0.lines = [(Post.user(0), -5), (Post.user(1), 2), (Post.user(1), 3)] },
            "transfer tribute of record-1 has two entries of user-1 in usd"
        )
    }

    @Test("A transfer that differs from what was sealed is found")
    func hash() {
        let other = tribute { $0.lines = [(Post.user(0), -6), (Post.user(1), 6)] }
        #expect(
            rules.violation(other, storedHash: tribute().hash)
                == "transfer tribute of record-1 does not match its stored hash"
        )
        #expect(rules.violation(tribute(), storedHash: []) != nil)
    }

    @Test("A transfer without its record, or with too few or too many answers, is found")
    func answers() throws {
        var rig = Rig()
        rig.bring(to: .paid)
        let rules = LedgerRules([.opening, .payment, .refund])
        let payment = try #require(rig.books.transfers.values.first { $0.kind == "PAYMENT" })
        let opening = try #require(rig.books.transfers.values.first { $0.kind == "OPENING" })
        let answer = try #require(rig.books.rows.answers.values.first)
        #expect(rules.violation(payment, answeredBy: [answer], isRecorded: true) == nil)
        #expect(rules.violation(opening, answeredBy: [], isRecorded: false) == nil)
        let name = "transfer paid of session-0"
        let lost = rules.violation(payment, answeredBy: [answer], isRecorded: false)
        #expect(lost == "\(name): its record is missing")
        let none = rules.violation(payment, answeredBy: [], isRecorded: true)
        #expect(none == "\(name) has 0 answers, expected 1")
        let twice = rules.violation(payment, answeredBy: [answer, answer], isRecorded: true)
        #expect(twice == "\(name) has 2 answers, expected 1")
        #expect(
            rules.violation(opening, answeredBy: [answer], isRecorded: false)
                == "transfer opening of \(opening.key.record) has 1 answers, expected 0"
        )
    }
}

/// The entries of one account, checked in their order.
@Suite("The entries of an account")
struct AccountCheckTests {
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
        var check = AccountCheck(account, rules)
        for line in lines {
            if let broken = check.add(entry(line, of: account)) { return broken }
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
            damage([right[0], right[2]])
                == "account of user-0: expected entry 2, found entry 3"
        )
        #expect(
            damage([right[1], right[2]])
                == "account of user-0: expected entry 1, found entry 2"
        )
        #expect(
            damage([right[0], right[0]])
                == "account of user-0: expected entry 2, found entry 1"
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
        #expect(
            damage([right[0], last])
                == "entry 2 of user-0: balance 10 and amount \(Int64.max) overflow"
        )
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
        #expect(damage(debt) == "entry 1 of user-0: balance -4 is not allowed")
        #expect(
            damage(debt, of: Post.pot) == "entry 1 of pot:record-1: balance -4 is not allowed"
        )
        #expect(damage(debt, of: Cast.mint) == nil)
    }

    @Test("An entry that is older than the one before it is found")
    func time() {
        let broken = damage(changing: 2) { $0.at = 999 }
        #expect(broken == "entry 3 of user-0 is older than entry 2")
        #expect(damage(changing: 2) { $0.at = 1_000 } == nil)
    }

    @Test("An account that is not the sum of its entries, or is missing, is found")
    func account() {
        let key = Post.user(0)
        func broken(_ account: Account?) -> String? {
            var check = AccountCheck(key, rules)
            for line in right { #expect(check.add(entry(line, of: key)) == nil) }
            return check.violation(account)
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
        let name = "account of user-0"
        #expect(broken(account(balance: 4)) == "\(name): balance 4, expected 3")
        #expect(broken(account(earned: 6)) == "\(name): earned 6, expected 7")
        #expect(broken(account(count: 2)) == "\(name): 2 entries, expected 3")
        let times = "changed at 1970-01-01T00:00:01.999Z, expected 1970-01-01T00:00:02.000Z"
        #expect(broken(account(at: 1_999)) == "\(name): \(times)")
        let empty = Account(key, changedAt: Timestamp(milliseconds: 5))
        #expect(AccountCheck(key, rules).violation(empty) == nil)
        #expect(AccountCheck(key, rules).violation(account()) != nil)
    }
}
