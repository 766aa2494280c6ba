import GotchuCore
import LedgerTestSupport
import TestSupport
import Testing

@testable import Ledger

/// Transfers between accounts of any kind.
@Suite("Posting")
struct PostingTests {
    private let pot = Post.pot
    private let time = Timestamp(milliseconds: 5_000)

    @Test("A stake moves money from a user into a pot, and its entries have the new balances")
    func stake() throws {
        var books = Post.books([10, 20])
        let transfer = try books.post(
            .wager,
            [(pot, 7), (Post.user(1), -7)],
            record: Post.record,
            step: "stake/1",
            at: time
        )
        #expect(transfer.key == Transfer.Key(Post.record, "stake/1"))
        #expect(transfer.kind == "WAGER" && transfer.at == time)
        let debit = Entry(
            account: Post.user(1),
            number: 1,
            transfer: transfer.key,
            kind: "WAGER",
            at: time,
            amount: -7,
            balance: 13,
            earned: 0
        )
        let credit = Entry(
            account: pot,
            number: 1,
            transfer: transfer.key,
            kind: "WAGER",
            at: time,
            amount: 7,
            balance: 7,
            earned: 0
        )
        #expect(transfer.entries == [debit, credit])
        #expect(books.effects.transfers == [transfer])
        #expect(books.effects.accounts.map(\.key) == [pot, Post.user(1)])
        #expect(books.effects.accounts.map(\.balance) == [7, 13])
        #expect(books.effects.accounts.map(\.entryCount) == [1, 1])
    }

    @Test("A transfer pays a pot out to several users, and adds up two lines of one account")
    func release() throws {
        var books = Post.books([1, 2, 3], pot: 30)
        let transfer = try books.post(
            .payoff,
            [
                (pot, -10), (Post.user(0), 10), (Post.user(1), 5), (pot, -20), (Post.user(2), 8),
                (Post.user(1), 7),
            ],
            record: Post.record,
            step: "release",
            at: time
        )
        #expect(transfer.entries.map(\.account) == [pot] + (0..<3).map(Post.user))
        #expect(transfer.entries.map(\.amount) == [-30, 10, 12, 8])
        #expect(transfer.entries.map(\.balance) == [0, 11, 14, 11])
        #expect(transfer.entries.map(\.earned) == [0, 10, 12, 8])
        #expect(transfer.entries.map(\.number) == [2, 1, 1, 1])
    }

    @Test("A transfer may have 10,003 entries")
    func manyEntries() throws {
        var books = Post.books(Array(repeating: 0, count: 10_002), pot: 10_002)
        let transfer = try books.post(
            .payoff,
            [(pot, -10_002)] + (0..<10_002).map { (Post.user($0), 1) },
            record: Post.record,
            step: "release",
            at: time
        )
        #expect(transfer.entries.count == 10_003)
        #expect(books.rows.accounts.values.map(\.balance).reduce(0, +) == 10_002)
    }

    @Test("A transfer in two currencies is balanced in each of them")
    func currencies() throws {
        var books = Post.books([10, 20])
        let euros = (0..<2).map { Account.Key(Post.user($0).owner, .eur) }
        var rows = books.rows
        for key in euros { rows.accounts[key] = Account(key, balance: 4, changedAt: time) }
        books = Books(rows)
        let transfer = try books.post(
            .swap,
            [(Post.user(0), -5), (Post.user(1), 5), (euros[1], -3), (euros[0], 3)],
            record: Post.record,
            step: "swap",
            at: time
        )
        #expect(transfer.entries.count == 4)
        #expect(euros.map { books.rows.accounts[$0]?.balance } == [7, 1])
    }

    @Test("A payout of more than the pot holds is refused, and nothing moves")
    func potFloor() {
        for (held, count) in [(Int64(30), Int64(1)), (0, 0)] {
            var books = Post.books([1, 2], pot: held == 0 ? nil : held)
            let before = books.rows
            let refusal = #expect(throws: Refusal.self) {
                try books.post(
                    .payoff,
                    [(pot, -31), (Post.user(0), 30), (Post.user(1), 1)],
                    record: Post.record,
                    step: "release",
                    at: time
                )
            }
            #expect(refusal == Refusal(.insufficientBalance, required: 31, available: held))
            #expect(books.rows == before && books.effects.isEmpty)
            #expect(before.accounts[pot]?.entryCount ?? 0 == count)
        }
    }

    @Test("A payment is refused for its balance first, even if the receiver does not exist")
    func userFloor() {
        var books = Post.books([4])
        let before = books.rows
        #expect(throws: Refusal(.insufficientBalance, required: 5, available: 4)) {
            try books.move(5, from: Post.user(0), to: Post.user(9))
        }
        #expect(throws: Refusal(.insufficientBalance, required: 5, available: 0)) {
            try books.move(5, from: Post.user(9), to: Post.user(0))
        }
        #expect(throws: Refusal(.noWalletInCurrency)) {
            try books.move(4, from: Post.user(0), to: Post.user(9))
        }
        #expect(books.rows == before && books.effects.isEmpty)
    }

    @Test("A user may pay all that they have")
    func everything() throws {
        var books = Post.books([4, 0])
        try books.move(4, from: Post.user(0), to: Post.user(1))
        #expect(books.rows.accounts[Post.user(0)]?.balance == 0)
    }

    @Test("A house account may be negative, and is created when it is needed")
    func house() throws {
        var books = Post.books([0])
        try books.post(
            .opening,
            [(Cast.mint, -9), (Post.user(0), 9)],
            record: Post.record,
            step: "opening",
            at: time
        )
        #expect(books.rows.accounts[Cast.mint]?.balance == -9)
        #expect(books.rows.accounts.values.map(\.balance).reduce(0, +) == 0)
    }

    @Test("A debt is never above zero, and a take never below")
    func ofOneUser() throws {
        let user = UserID(trusted: "user-0")
        let owed = Account.Key(.houseOf(.owed, user), .usd)
        let take = Account.Key(.houseOf(.take, user), .usd)
        let stripe = Account.Key(.house(.stripeBalance), .usd)
        var books = Post.books([0])
        try books.move(5, .fact, from: owed, to: stripe)
        try books.move(5, .fact, from: stripe, to: take)
        #expect(books.rows.accounts[owed]?.balance == -5)
        let rows = books.rows
        #expect(throws: Refusal(.balanceTooLarge)) {
            try books.move(6, .fact, from: stripe, to: owed)
        }
        #expect(throws: Refusal(.insufficientBalance, required: 6, available: 5)) {
            try books.move(6, .fact, from: take, to: stripe)
        }
        #expect(books.rows == rows)
        try books.move(5, .fact, from: take, to: owed)
        #expect([owed, take].map { books.rows.accounts[$0]?.balance } == [0, 0])
    }

    @Test("A transfer that would overflow either balance is refused, and nothing moves")
    func overflow() {
        var rows = Post.books([10, .max - 4]).rows
        rows.accounts[Cast.mint] = Account(Cast.mint, balance: .min + 4, changedAt: time)
        var books = Books(rows)
        #expect(throws: Refusal(.balanceTooLarge)) {
            try books.move(5, from: Post.user(0), to: Post.user(1))
        }
        #expect(throws: Refusal(.balanceTooLarge)) {
            try books.post(
                .opening,
                [(Cast.mint, -5), (Post.user(0), 5)],
                record: Post.record,
                step: "opening",
                at: time
            )
        }
        #expect(books.rows == rows && books.effects.isEmpty)
    }

    @Test("A transfer that would overflow the earnings is refused, and nothing moves")
    func earningsOverflow() {
        let rich = Account(Post.user(1), balance: 0, earned: .max - 4, changedAt: time)
        var rows = Post.books([10]).rows
        rows.accounts[rich.key] = rich
        var books = Books(rows)
        #expect(throws: Refusal(.balanceTooLarge)) {
            try books.move(5, .tribute, from: Post.user(0), to: Post.user(1))
        }
        #expect(books.rows == rows && books.effects.isEmpty)
    }

    @Test("A transfer changes only the earnings of its earner")
    func earned() throws {
        var books = Post.books([100, 100])
        let (first, second) = (Post.user(0), Post.user(1))
        func earnings() -> [Int64?] {
            [first, second].map { books.rows.accounts[$0]?.earned }
        }
        try books.move(7, .tribute, from: first, to: second)
        #expect(earnings() == [0, 7])
        try books.move(2, .rebate, from: second, to: first)
        #expect(earnings() == [0, 5])
        try books.move(3, .swap, from: second, to: first)
        #expect(earnings() == [0, 5])
        try books.move(9, .rebate, from: second, to: first)
        #expect(earnings() == [0, -4], "earnings may be negative")
    }

    @Test("An entry is never older than the one before it, even if the clock is set back")
    func clockSetBack() throws {
        var books = Post.books([10, 0])
        let late = Timestamp(milliseconds: 9_000)
        try books.move(1, from: Post.user(0), to: Post.user(1), at: late)
        let second = try books.move(1, .rebate, from: Post.user(0), to: Post.user(1), at: time)
        #expect(second.at == time)
        #expect(second.entries.map(\.at) == [late, late])
    }
}

/// Misuse of `post`: a bug ends the program before money moves wrongly.
@Suite("Invalid postings")
struct MisuseTests {
    @Test("Lines whose sum is not zero end the program")
    func sum() async {
        await #expect(processExitsWith: .failure) {
            try Post.misuse(.swap, [(Post.user(0), -5), (Post.user(1), 4)], step: "swap")
        }
    }

    @Test("Lines that are balanced only over two currencies end the program")
    func currencies() async {
        await #expect(processExitsWith: .failure) {
            let euros = Account.Key(.house(.developmentMint), .eur)
            try Post.misuse(.opening, [(euros, -5), (Post.user(1), 5)], step: "opening")
        }
    }

    @Test("An account whose lines add up to zero ends the program")
    func nothing() async {
        await #expect(processExitsWith: .failure) {
            try Post.misuse(
                .swap,
                [(Post.user(0), -5), (Post.user(1), 5), (Post.user(2), 1), (Post.user(2), -1)],
                step: "swap"
            )
        }
    }

    @Test("An account that the kind of transfer does not allow ends the program")
    func party() async {
        await #expect(processExitsWith: .failure) {
            try Post.misuse(.wager, [(Post.user(0), -5), (Post.user(1), 5)], step: "stake/1")
        }
    }

    @Test("A step that the kind of transfer does not allow ends the program")
    func step() async {
        await #expect(processExitsWith: .failure) {
            try Post.misuse(.wager, [(Post.user(0), -5), (Post.pot, 5)], step: "stake/0")
        }
    }

    @Test("A line with the pot of another record ends the program")
    func foreignPot() async {
        await #expect(processExitsWith: .failure) {
            let other = Account.Key(.pot(RecordID(trusted: "record-2")), .usd)
            try Post.misuse(.wager, [(Post.user(0), -5), (other, 5)], step: "stake/1")
        }
    }

    @Test("A step that is posted twice in one batch ends the program")
    func twice() async {
        await #expect(processExitsWith: .failure) {
            var books = Post.books([10, 10])
            for _ in 0..<2 { try books.move(1, from: Post.user(0), to: Post.user(1)) }
        }
    }
}
