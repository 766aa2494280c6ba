import GotchuCore
import LedgerTestSupport
import Testing

@testable import Ledger

/// Ids and keys as they are stored and shown.
@Suite("Ids of the ledger")
struct LedgerIDTests {
    @Test("A computed id is a UUID of version 8, and never changes")
    func computed() {
        let transfer = Transfer.Key(RecordID(trusted: "session-1"), "paid")
        #expect(transfer.id == "2b62869d-af8d-8f4a-bd83-3b36d59a38bc")
        let account = Account(
            Account.Key(.user(UserID(trusted: "user-1")), .usd),
            changedAt: Timestamp(milliseconds: 0)
        )
        #expect(account.id == "6dff7f43-2cdf-8749-acb8-bd2a61350b98")
        let form = /[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/
        for number in 0..<1_000 {
            #expect(computedID("test", "\(number)").wholeMatch(of: form) != nil)
        }
    }

    @Test("Computed ids of different things differ")
    func different() {
        var ids: Set<String> = [computedID("a", "b"), computedID("ab"), computedID("a", "b", "")]
        for record in ["session-1", "session-2"] {
            for step in ["paid", "refund/1", "refund/11"] {
                ids.insert(Transfer.Key(RecordID(trusted: record), step).id)
            }
        }
        for owner in [Cast.account(0).owner, Cast.account(1).owner, Cast.mint.owner] {
            for currency in [Currency.usd, .eur] {
                let key = Account.Key(owner, currency)
                ids.insert(Account(key, changedAt: Timestamp(milliseconds: 0)).id)
            }
        }
        #expect(ids.count == 15)
    }

    @Test("An account's owner is read back from its stored form")
    func owners() {
        let owners: [(Account.Owner, String)] = [
            (.user(UserID(trusted: "01998c2e-7b1f-7000")), "01998c2e-7b1f-7000"),
            (.house(.developmentMint), "DEV_MINT"),
            (.pot(RecordID(trusted: "session-1")), "pot:session-1"),
            (.pot(RecordID(trusted: "DEV_MINT")), "pot:DEV_MINT"),
            (.pot(RecordID(trusted: "pot:1")), "pot:pot:1"),
        ]
        for (owner, stored) in owners {
            #expect(owner.rawValue == stored)
            #expect(Account.Owner(rawValue: stored) == owner)
        }
        for account in UserHouseAccount.allCases {
            let owner = Account.Owner.houseOf(account, UserID(trusted: "user-1"))
            #expect(owner.rawValue == "\(account.rawValue):user-1")
            #expect(Account.Owner(rawValue: owner.rawValue) == owner)
            #expect(owner.party == .houseOf(account))
        }
        for account in HouseAccount.allCases {
            #expect(Account.Owner(rawValue: account.rawValue) == .house(account))
            #expect(Account.Owner.house(account).party == .house(account))
        }
        let user = UserID.make()
        #expect(Account.Owner(rawValue: user.rawValue) == .user(user))
        #expect(Account.Owner.user(user).party == .user)
        #expect(Account.Owner.pot(.make()).party == .pot)
    }

    @Test("A step must have a form that the transfer's kind allows")
    func facts() {
        func allows(_ step: String) -> Bool { TransferKind.fact.allows(step) }
        for step in ["po_1:paid", "a.b/owed", "A-Z_9", String(repeating: "a", count: 120)] {
            #expect(allows(step))
        }
        for step in ["", "a b", "é", "a\n", "a'", String(repeating: "a", count: 121)] {
            #expect(!allows(step), "\(step)")
        }
        #expect(!TransferKind.wager.allows("settled/1"))
    }

    @Test("A numbered step has a name, a slash and a positive number")
    func steps() {
        let hash = [UInt8](repeating: 0, count: 32)
        for step in ["stake/1", "stake/9223372036854775807"] {
            let key = Transfer.Key(Post.record, step)
            let transfer = Transfer(
                key: key,
                kind: "WAGER",
                at: Timestamp(milliseconds: 0),
                entries: []
            )
            let broken = LedgerRules([.wager]).violation(transfer, storedHash: hash)
            #expect(broken?.hasSuffix("must have at least two entries, and has 0") == true)
        }
        let wrong = [
            "stake", "stake/", "stake/0", "stake/-1", "stake/+1", "stake/01", "stake/1/2",
            "stake/x", "stake/9223372036854775808", "other/1",
        ]
        for step in wrong {
            let key = Transfer.Key(Post.record, step)
            let transfer = Transfer(
                key: key,
                kind: "WAGER",
                at: Timestamp(milliseconds: 0),
                entries: []
            )
            let broken = LedgerRules([.wager]).violation(transfer, storedHash: hash)
            #expect(broken?.hasSuffix(": the kind WAGER does not allow this step") == true)
        }
    }

    @Test("Accounts are ordered by their stored owners, then by their currencies")
    func order() {
        let texts = [
            "0b8f", "0b8f2", "a", "D", "DEV_MINT_2", "OWED", "OWED:a", "p", "pot:1", "TAKE",
            "TAKE:b",
        ]
        let users = texts.map { UserID(trusted: $0) }
        let owners: [Account.Owner] =
            users.map { .user($0) } + HouseAccount.allCases.map { .house($0) }
            + UserHouseAccount.allCases.flatMap { kind in users.map { .houseOf(kind, $0) } }
            + texts.map { .pot(RecordID(trusted: $0)) }
        for left in owners {
            for right in owners where left != right {
                let isBefore = Account.Key(left, .usd) < Account.Key(right, .usd)
                #expect(isBefore == (left.rawValue < right.rawValue), "\(left) \(right)")
            }
            #expect(Account.Key(left, .eur) < Account.Key(left, .usd))
            #expect(!(Account.Key(left, .usd) < Account.Key(left, .usd)))
        }
    }
}
