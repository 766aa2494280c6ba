import Foundation
import LedgerStore
import LedgerTestSupport
import Payments
import PostgresTestSupport
import SQLite
import TestSupport
import Testing

@testable import Ledger

/// Damage to columns that the audit checks by a rule or by another row.
@Suite("The audit of damage", .serialized)
struct AuditDamageTests {
    /// A script that damages the database, the rule that must find the damage, and words that the
    /// finding must contain.
    struct Damage: Sendable, CustomTestStringConvertible {
        let sql: String
        let rule: Rule
        let says: String

        init(_ sql: String, _ rule: Rule, _ says: String) {
            self.sql = sql
            self.rule = rule
            self.says = says
        }

        var testDescription: String { "\(rule): \(sql)" }
    }

    /// The end of each rule's text, which identifies the rule.
    enum Rule: String, CaseIterable, Sendable {
        case currencies, users, names, devices, deliveries, due, entries, transfers, records
        case sessions, seals
        case owners = "accounts, records, endpoints"
        case refusals = "known reason (answers"
        case answers = "transfer or record (answers"
        case answerers = "given to a user (answers"
    }

    private static let users = [
        Damage("DELETE FROM users WHERE id = 'user-0'", .owners, "owner user-0 is missing"),
        Damage("DELETE FROM users WHERE id = 'user-0'", .answerers, "user user-0 is missing"),
        Damage("DELETE FROM users WHERE id = 'user-0'", .names, "user-0, which is missing"),
        Damage("UPDATE users SET id = 'x' WHERE id = 'user-0'", .users, "user x"),
        Damage("UPDATE users SET login = 'x' WHERE id = 'user-0'", .users, "user user-0"),
        Damage("INSERT INTO users VALUES ('x', 'x', 'x', 1, NULL, NULL, NULL)", .users, "user x"),
        Damage(
            "INSERT INTO users VALUES ('x', 'x', 'x', 1, NULL, NULL, NULL); "
                + "INSERT INTO names VALUES ('login:x', 'x', NULL)",
            .users,
            "user x has no account"
        ),
        Damage("DELETE FROM names WHERE target = 'user-0'", .users, "user user-0"),
        Damage(
            "INSERT INTO names VALUES ('login:thief@example.org', 'user-0', NULL)",
            .users,
            "user user-0 has a second login"
        ),
        Damage("UPDATE names SET target = 'x' WHERE target = 'user-0'", .users, "user user-0"),
        Damage("UPDATE names SET target = 'x' WHERE target = 'user-0'", .names, "x, which is"),
        Damage("UPDATE names SET name = 'login:x' WHERE target = 'user-0'", .users, "user user-0"),
        Damage(
            "DELETE FROM names WHERE target = 'session-1'",
            .sessions,
            "session-1: its current names"
        ),
        Damage("UPDATE names SET name = 'x' WHERE target = 'session-1'", .sessions, "session-1"),
        Damage(
            "UPDATE names SET target = 'session-0' WHERE target = 'session-1'",
            .sessions,
            "session-0: its current names"
        ),
    ]

    private static let accounts = [
        account("balance = balance + 1", .entries, "user-0"),
        account("balance = balance + 1", .currencies, "usd"),
        Damage("UPDATE accounts SET balance = -1 WHERE owner = 'user-1'", .entries, "balance -1"),
        account("earned = earned + 1", .entries, "user-0"),
        account("entry_count = 4", .entries, "4 entries"),
        account("changed_at = 1", .entries, "user-0"),
        account(
            "currency = 'eur'",
            .entries,
            "account of user-0"
        ),
        account("currency = 'eur'", .currencies, "eur"),
        account("owner = 'x'", .owners, "owner x"),
        Damage("DELETE FROM accounts WHERE owner = 'user-0'", .entries, "user-0 is missing"),
        Damage("DELETE FROM accounts WHERE owner = 'user-0'", .users, "user-0 has no account"),
        Damage("DELETE FROM accounts WHERE owner = 'DEV_MINT'", .currencies, "usd"),
        Damage("INSERT INTO accounts VALUES ('user-0', 'eur', 1, 0, 0, 1)", .entries, "user-0"),
    ]

    private static let transfers = [
        transfer("kind = 'GIFT'", .transfers, "unknown kind GIFT"),
        transfer("kind = 'REFUND'", .transfers, "does not allow this step"),
        transfer("step = 'x'", .transfers, "does not allow this step"),
        transfer("record = 'x'", .transfers, "session-0 is missing"),
        transfer("at = 1", .transfers, "does not match its stored hash"),
        transfer(
            "hash = (SELECT hash FROM seals WHERE number = 1)",
            .transfers,
            "does not match its stored hash"
        ),
        transfer("chain = 'a'", .seals, "seal"),
        transfer("seal = 1", .seals, "seal 1"),
        Damage(
            "DELETE FROM transfers WHERE step = 'paid'",
            .transfers,
            "paid of session-0 is missing"
        ),
        Damage(
            "DELETE FROM transfers WHERE step = 'paid'",
            .answers,
            "paid of session-0, which is missing"
        ),
        Damage(
            "DELETE FROM transfers WHERE step = 'paid'",
            .sessions,
            "session-0: it is paid, but has 0 payment transfers"
        ),
        entry("owner = 'x'", .entries, "expected entry 2, found entry 3"),
        entry("currency = 'eur'", .transfers, "entries in eur sum to 5"),
        Damage(
            "UPDATE entries SET number = 7 WHERE owner = 'user-1' AND number = 2",
            .entries,
            "expected entry 2, found"
        ),
        entry("record = 'x'", .transfers, "two entries, and has 1"),
        entry("step = 'x'", .transfers, "two entries, and has 1"),
        entry("kind = 'GIFT'", .transfers, "has the kind GIFT"),
        entry("at = 9", .entries, "is older"),
        entry("amount = 6", .transfers, "entries in usd sum to 1"),
        entry("amount = 6", .entries, "expected 16"),
        entry("balance = 6", .entries, "balance 6, expected 15"),
        entry("earned = 6", .entries, "earned 6, expected 5"),
        Damage("DELETE FROM entries WHERE step = 'paid'", .transfers, "two entries, and has 0"),
        Damage("DELETE FROM entries WHERE step = 'refund/2'", .entries, "3 entries, expected 2"),
        Damage(
            "INSERT INTO entries VALUES "
                + "('DEV_MINT', 'usd', 3, 'session-0', 'paid', 'PAYMENT', 1000, 0, -20, 0)",
            .transfers,
            "the entry of DEV_MINT has the amount 0"
        ),
    ]

    private static let answers = [
        Damage("DELETE FROM answers WHERE step = 'paid'", .answers, "paid of session-0 has 0"),
        payment("step = 'x'", .answers, "has 0 answers"),
        payment("record = 'x'", .answers, "has 0 answers"),
        payment("step = NULL", .answers, "has 0"),
        Damage(
            "INSERT INTO answers SELECT user_id, command, 'a-key-of-a-thief', fingerprint, "
                + "outcome, NULL, 'session-9', NULL, request_id, decided_at FROM answers "
                + "WHERE step = 'paid'",
            .answers,
            "record session-9, which is missing"
        ),
        payment("user_id = 'x'", .answerers, "user x is missing"),
        payment("user_id = 'user-0'", .sessions, "payment transfer does not match"),
        refund("user_id = 'user-1'", .sessions, "refund/2 does not match"),
        payment("command = 'x'", .sessions, "payment transfer does not match"),
        refund("command = 'x'", .sessions, "refund/2 does not match"),
        payment("outcome = '{}'", .sessions, "payment transfer does not match"),
        payment(
            #"outcome = replace(outcome, 'Balance":5', 'Balance":4')"#,
            .sessions,
            "session-0: its payment transfer does not match"
        ),
        payment(
            #"outcome = replace(outcome, 'fer":"', 'fer":"x')"#,
            .sessions,
            "payment transfer does not match"
        ),
        refund(
            #"outcome = replace(outcome, 'Balance":13', 'Balance":1')"#,
            .sessions,
            "refund/2 does not match its answer"
        ),
        refund(
            #"outcome = replace(outcome, 'amount":2', 'amount":3')"#,
            .sessions,
            "refund/2 does not match"
        ),
        refund(
            #"outcome = replace(outcome, 'total":2', 'total":3')"#,
            .sessions,
            "refund/2 does not match"
        ),
        refund(
            #"outcome = replace(outcome, 'fer":"', 'fer":"x')"#,
            .sessions,
            "refund/2 does not match"
        ),
        Damage(
            #"UPDATE answers SET refusal = '{"reason":"LOST"}' WHERE refusal IS NOT NULL"#,
            .refusals,
            "LOST"
        ),
        Damage("UPDATE answers SET refusal = 'lost' WHERE refusal IS NOT NULL", .refusals, "lost"),
    ]

    private static let records = [
        record("id = 'x'", .names, "session-0, which"),
        Damage("DELETE FROM records WHERE id = 'session-0'", .names, "session-0, which"),
        Damage("DELETE FROM records WHERE id = 'session-0'", .answers, "its record is missing"),
        record("kind = 'x'", .records, "session-0 has the unknown kind x"),
        record("owner = 'x'", .owners, "owner x"),
        record("owner = 'user-1'", .sessions, "cannot be read"),
        record("owner = 'user-2'", .sessions, "does not pay 5"),
        record("state = 'PAIE'", .sessions, "cannot be read"),
        record("state = 'CANCEL'", .sessions, "cannot be read"),
        record("created_at = 9000000", .sessions, "cannot be read"),
        record("due_at = 1", .sessions, "differs from what the server writes"),
        record("due_at = 1", .due, "session-0"),
        Damage("UPDATE records SET due_at = NULL WHERE id = 'session-1'", .due, "session-1 is in"),
        record("body = '{}'", .sessions, "cannot be read"),
        body("amount\":5", "amount\":6", "does not pay 6"),
        body("usd", "eur", "does not pay 5"),
        body("user-1", "user-0", "cannot be read"),
        body("user-1", "user-2", "does not pay 5"),
        body("refunded\":2", "refunded\":6", "cannot be read"),
        body("refunded\":2", "refunded\":0", "refunded amount is 0, but its transfers refund 2"),
        body("refunded\":2", "refunded\":-1", "cannot be read"),
        body("0000000000", "0000000009", "its current names are"),
        Damage(
            "UPDATE names SET until = 1 WHERE target = 'session-0'",
            .sessions,
            "its current names are"
        ),
        Damage(
            "INSERT INTO names VALUES ('eid:0000000009', 'session-0', NULL)",
            .sessions,
            "its current names are"
        ),
        body("expiresAt\":301000", "expiresAt\":1", "cannot be read"),
    ]

    private static func account(_ set: String, _ rule: Rule, _ says: String) -> Damage {
        Damage("UPDATE accounts SET \(set) WHERE owner = 'user-0'", rule, says)
    }

    private static func transfer(_ set: String, _ rule: Rule, _ says: String) -> Damage {
        Damage("UPDATE transfers SET \(set) WHERE step = 'paid'", rule, says)
    }

    /// Returns damage to the payee's entry of the payment.
    private static func entry(_ set: String, _ rule: Rule, _ says: String) -> Damage {
        Damage("UPDATE entries SET \(set) WHERE step = 'paid' AND amount > 0", rule, says)
    }

    private static func payment(_ set: String, _ rule: Rule, _ says: String) -> Damage {
        Damage("UPDATE answers SET \(set) WHERE step = 'paid'", rule, says)
    }

    private static func refund(_ set: String, _ rule: Rule, _ says: String) -> Damage {
        Damage("UPDATE answers SET \(set) WHERE step = 'refund/2'", rule, says)
    }

    private static func record(_ set: String, _ rule: Rule, _ says: String) -> Damage {
        Damage("UPDATE records SET \(set) WHERE id = 'session-0'", rule, says)
    }

    private static func body(_ old: String, _ new: String, _ says: String) -> Damage {
        record("body = replace(body, '\(old)', '\(new)')", .sessions, says)
    }

    private static let others = [
        Damage(
            "INSERT INTO deliveries VALUES ('e', 'x', 'x', 'session-0', 'x', 1, NULL, '', 0, 1, 1, "
                + "NULL, NULL)",
            .deliveries,
            "endpoint e is missing"
        ),
        Damage(
            "\(endpoint); INSERT INTO deliveries "
                + "VALUES ('e', 'x', 'x', 'r', 'x', 1, NULL, '', 0, 1, 1, NULL, NULL)",
            .deliveries,
            "record r is missing"
        ),
        Damage("\(endpoint); UPDATE endpoints SET owner = 'x'", .owners, "owner x"),
        Damage(
            "INSERT INTO devices (id, user_id, name, scopes, created_at, family, current, "
                + "generation, expires_at) SELECT 'd', 'x', '', '', 1, hash, hash, 0, 1 FROM seals "
                + "WHERE number = 1",
            .devices,
            "user x is missing"
        ),
    ]

    private static let endpoint = """
        INSERT INTO endpoints (id, url, owner, created_at, secret)
            SELECT 'e', '', 'user-0', 1, hash FROM seals WHERE number = 1
        """

    /// Damage to a session of 5 with a tip of 3. Refunds of 2 and 4 were made; 1 of the 4 is tip.
    private static let tips = [
        body("tip\":3", "tip\":4", "does not pay 9"),
        body(",\"tip\":3", "", "cannot be read"),
        body("tip\":3", "tip\":-3", "cannot be read"),
        body("tip\":3", "tip\":100000000", "cannot be read"),
        record(
            "body = replace(replace(body, 'amount\":5', 'amount\":6'), 'tip\":3', 'tip\":2')",
            .sessions,
            "payment transfer does not match"
        ),
        payment(
            #"outcome = replace(outcome, 'tip":3', 'tip":2')"#,
            .sessions,
            "payment transfer does not match"
        ),
        payment(
            #"outcome = replace(outcome, '"tip":3,', '')"#,
            .sessions,
            "payment transfer does not match"
        ),
        refund(
            #"outcome = replace(outcome, 'tip":0', 'tip":1')"#,
            .sessions,
            "refund/2 does not match"
        ),
        Damage(
            #"UPDATE answers SET outcome = replace(outcome, 'tip":1', 'tip":0')"#,
            .sessions,
            "refund/6 does not match"
        ),
    ]

    @Test("The audit finds a changed tip", arguments: tips, StoreKind.single)
    func tip(damage: Damage, kind: StoreKind) async throws {
        let database = try await SampleLedger.database(kind, tip: 3)
        #expect(try database.audit().isClean)
        try await Self.find(damage, in: database)
    }

    @Test(
        "Each damage is found by its rule, with the expected finding, on SQLite and PostgreSQL",
        arguments: users + accounts + transfers + answers + records + others,
        StoreKind.single
    )
    func found(damage: Damage, kind: StoreKind) async throws {
        try await Self.find(damage, in: SampleLedger.database(kind))
    }

    private static func find(_ damage: Damage, in database: TestDatabase) async throws {
        try database.damage(damage.sql)
        let audit = try database.audit()
        let finding = audit.findings.first { $0.rule.hasSuffix("\(damage.rule.rawValue))") }
        #expect(
            finding?.violation?.contains(damage.says) == true,
            "\(audit.findings.compactMap(\.violation))"
        )
    }

    @Test(
        "Each rule finds damage on a cluster too",
        .enabled(if: CitusCluster.isInstalled, "\(CitusCluster.absence)")
    )
    func foundOnCluster() async throws {
        let database = try await SampleLedger.database(.distributed)
        let damages = Self.users + Self.accounts + Self.transfers + Self.answers + Self.records
        // Distribution columns cannot be updated.
        let possible = (damages + Self.others).filter {
            !$0.sql.contains(/SET (id|owner|record|name|user_id|chain) =/)
        }
        var damaged: Set<Rule> = []
        for damage in possible where damaged.insert(damage.rule).inserted {
            try database.damage(damage.sql)
        }
        #expect(damaged == Set(Rule.allCases))
        let broken = try database.audit().findings.filter { $0.violation != nil }.map(\.rule)
        for rule in damaged {
            #expect(broken.contains { $0.hasSuffix("\(rule.rawValue))") }, "\(rule)")
        }
    }
}
