import GotchuCore
import Ledger
import LedgerStore
import LedgerTestSupport
import Payments
import TestSupport
import Testing

/// Transfers that a thief inserts into the database, with sum zero and valid seals. No guard
/// prevents them.
@Suite("Money that moved outside of every payment", .serialized)
struct TheftTests {
    /// An account's owner, number of entries and balance before the theft.
    typealias Side = (owner: String, entries: Int64, balance: Int64)

    struct Theft: Sendable, CustomTestStringConvertible {
        let kind: String
        let record: String
        let step: String
        let from: Side
        let to: Side
        /// The user and the command of an answer that the thief forges.
        var answer: (user: String, command: String)?
        /// The required words of the finding.
        let says: String

        var testDescription: String {
            "\(kind) \(record) from \(from.owner) to \(to.owner): \(says)"
        }
    }

    private static let payee: Side = ("user-0", 3, 13)
    private static let payer: Side = ("user-1", 3, 7)
    private static let mint: Side = ("DEV_MINT", 2, -20)
    /// The thief's own account has no entry yet.
    private static let thief: Side = ("thief", 0, 0)

    @Test(
        "The audit finds a theft by its kind, its record, its answer or its accounts",
        arguments: [
            Theft(
                kind: "OPENING",
                record: "user-0",
                step: "opening/2",
                from: mint,
                to: payee,
                says: "the kind OPENING does not allow this step"
            ),
            Theft(
                kind: "OPENING",
                record: "theft",
                step: "opening",
                from: payer,
                to: payee,
                says: "the kind OPENING may not debit user-1"
            ),
            Theft(
                kind: "OPENING",
                record: "thief",
                step: "opening",
                from: payer,
                to: thief,
                says: "the kind OPENING may not debit user-1"
            ),
            Theft(
                kind: "OPENING",
                record: "theft",
                step: "opening",
                from: mint,
                to: payee,
                says: "is not the first credit of user theft"
            ),
            Theft(
                kind: "OPENING",
                record: "thief",
                step: "opening",
                from: mint,
                to: payee,
                says: "is not the first credit of user thief"
            ),
            Theft(
                kind: "GIFT",
                record: "theft",
                step: "gift",
                from: payer,
                to: payee,
                says: "has the unknown kind GIFT"
            ),
            Theft(
                kind: "PAYMENT",
                record: "theft",
                step: "paid",
                from: payer,
                to: thief,
                says: "has 0 answers"
            ),
            Theft(
                kind: "PAYMENT",
                record: "theft",
                step: "paid",
                from: payer,
                to: thief,
                answer: ("user-1", "pay"),
                says: "its record is missing"
            ),
            Theft(
                kind: "PAYMENT",
                record: "user-1",
                step: "paid",
                from: payer,
                to: thief,
                answer: ("user-1", "pay"),
                says: "its record is missing"
            ),
            Theft(
                kind: "PAYMENT",
                record: "session-1",
                step: "paid",
                from: payer,
                to: payee,
                answer: ("user-1", "pay"),
                says: "but it has a payment transfer"
            ),
            Theft(
                kind: "REFUND",
                record: "session-1",
                step: "refund/5",
                from: payee,
                to: payer,
                answer: ("user-0", "refund"),
                says: "but it has a refund transfer"
            ),
            Theft(
                kind: "REFUND",
                record: "session-0",
                step: "refund/7",
                from: payee,
                to: payer,
                answer: ("user-0", "refund"),
                says: "its refunded amount is 2, but its transfers refund 7"
            ),
            Theft(
                kind: "REFUND",
                record: "session-0",
                step: "refund/7",
                from: payee,
                to: thief,
                answer: ("user-0", "refund"),
                says: "does not refund 5 to its payer"
            ),
        ],
        StoreKind.single
    )
    func found(theft: Theft, store: StoreKind) async throws {
        let database = try await SampleLedger.database(store)
        try database.execute(try Self.script(theft, in: store))
        // All sums and seals are valid, so only one rule finds the theft.
        let broken = try database.audit().findings.compactMap(\.violation)
        #expect(broken.count == 1, "\(broken)")
        #expect(broken.first?.contains(theft.says) == true, "\(broken)")
    }

    private static func script(_ theft: Theft, in store: StoreKind) throws -> String {
        func blob(_ bytes: [UInt8]) -> String {
            let hex = bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
            return store == .sqlite ? "x'\(hex.joined())'" : "'\\x\(hex.joined())'::bytea"
        }
        let transfer = transfer(theft)
        let seal = Seal(
            chain: "aaaaaaaaaaaaaaaaaaaa",
            number: 0,
            previous: Seal.origin.hash,
            hash: Seal.origin.hash
        ).next(over: [transfer])
        var script = """
            INSERT INTO users (id, login, display_name, created_at)
                VALUES ('thief', 'thief', 'Thief', 1000);
            INSERT INTO names (name, target) VALUES ('login:thief', 'thief');
            INSERT INTO accounts (owner, currency, balance, earned, entry_count, changed_at)
                VALUES ('thief', 'usd', 0, 0, 0, 1000);
            INSERT INTO transfers (record, step, kind, at, chain, seal, hash)
                VALUES ('\(theft.record)', '\(theft.step)', '\(theft.kind)', 1000,
                    '\(seal.chain)', 1, \(blob(transfer.hash)));
            INSERT INTO seals (chain, number, previous, hash)
                VALUES ('\(seal.chain)', 1, \(blob(seal.previous)), \(blob(seal.hash)));
            """
        for entry in transfer.entries {
            script += """
                INSERT INTO entries
                    VALUES ('\(entry.account.owner.rawValue)', 'usd', \(entry.number),
                        '\(theft.record)', '\(theft.step)', '\(theft.kind)', 1000,
                        \(entry.amount), \(entry.balance), \(entry.earned));
                UPDATE accounts SET balance = \(entry.balance), entry_count = \(entry.number),
                    earned = \(entry.earned) WHERE owner = '\(entry.account.owner.rawValue)';
                """
        }
        if let answer = theft.answer {
            let outcome =
                answer.command == "pay"
                ? #"{"newBalance":2,"transfer":"\#(transfer.key.id)"}"#
                : #"{"amount":5,"newBalance":8,"total":7,"transfer":"\#(transfer.key.id)"}"#
            script += """
                INSERT INTO answers VALUES (
                    '\(answer.user)', '\(answer.command)', 'a-key-of-a-thief',
                    \(blob(Seal.origin.hash)), '\(outcome)', NULL, '\(theft.record)',
                    '\(theft.step)', 'request', 1000
                );
                """
        }
        return script
    }

    /// Returns the theft's transfer. The payee has earned 3 before the theft.
    private static func transfer(_ theft: Theft) -> Transfer {
        let key = Transfer.Key(RecordID(trusted: theft.record), theft.step)
        let entries = [(theft.from, -5 as Int64), (theft.to, 5)].map { side, amount in
            let earns =
                theft.kind == "PAYMENT" && amount > 0 || theft.kind == "REFUND" && amount < 0
            return Entry(
                account: Account.Key(Account.Owner(rawValue: side.owner), .usd),
                number: side.entries + 1,
                transfer: key,
                kind: theft.kind,
                at: Timestamp(milliseconds: 1_000),
                amount: amount,
                balance: side.balance + amount,
                earned: (side.owner == "user-0" ? 3 : 0) + (earns ? amount : 0)
            )
        }
        return Transfer(
            key: key,
            kind: theft.kind,
            at: Timestamp(milliseconds: 1_000),
            entries: entries
        )
    }
}
