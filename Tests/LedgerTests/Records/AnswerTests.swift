import GotchuCore
import LedgerTestSupport
import Payments
import Testing

@testable import Ledger

/// Answers that are remembered under a key, and those that are not.
@Suite("Answers")
struct AnswerTests {
    /// A command whose result the test sets.
    private struct FixedResultCommand: KeyedCommand {
        static let name = "told"

        struct Outcome: Codable, Equatable, Sendable {
            var text: String
            var number: Int64
        }

        let result: Result<Outcome, Refusal>
        var record: RecordID { Post.record }

        func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {}

        func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> Outcome {
            try result.get()
        }
    }

    private let time = Timestamp(milliseconds: 5_000)

    private func books() -> Books {
        var rows = Snapshot()
        let key = Cast.account(0)
        rows.accounts[key] = Account(key, balance: 10, changedAt: Timestamp(milliseconds: 0))
        return Books(rows)
    }

    private func request(
        session: Int = 0,
        id: String = "first",
        remembersUnknown: Bool = true
    ) -> KeyedRequest {
        var request = Cast.request(user: 0, key: 0, session: session, amount: nil, id: id)
        request.remembersUnknown = remembersUnknown
        return request
    }

    @Test("An outcome is stored as canonical JSON, and every replay returns the same one")
    func replay() throws {
        var books = books()
        let outcome = FixedResultCommand.Outcome(text: "a/b \"ü\"", number: .max)
        let first = try books.decide(
            FixedResultCommand(result: .success(outcome)),
            as: request(),
            at: time
        )
        #expect(try first.outcome.get() == outcome)
        #expect(!first.isReplay && first.isRemembered && first.requestID == "first")
        let stored = try #require(books.effects.answers.first)
        #expect(stored.key == Answer.Key(user: Cast.users[0], command: "told", key: Cast.keys[0]))
        let json = #"{"number":9223372036854775807,"text":"a/b \"ü\""}"#
        #expect(stored.decision == .outcome(json))
        #expect(stored.record == Post.record && stored.decidedAt == time)
        #expect(stored.step == nil && stored.transfer == nil)
        #expect(stored.fingerprint == request().fingerprint && stored.requestID == "first")

        let other = FixedResultCommand(result: .failure(Refusal(.sessionPaid)))
        let again = try books.decide(other, as: request(id: "second"), at: time)
        #expect(try again.outcome.get() == outcome)
        #expect(again.isReplay && again.isRemembered && again.requestID == "first")
        #expect(books.effects.answers == [stored])
        #expect(try CommandReply<FixedResultCommand.Outcome>(stored).outcome.get() == outcome)
    }

    @Test("A key with another fingerprint is refused, after an outcome and after a refusal")
    func keyReused() throws {
        for result in [
            Result<FixedResultCommand.Outcome, Refusal>.success(
                FixedResultCommand.Outcome(text: "", number: 0)
            ),
            .failure(Refusal(.sessionPaid)),
        ] {
            var books = books()
            _ = try books.decide(FixedResultCommand(result: result), as: request(), at: time)
            let before = books.effects
            let other = request(session: 1, id: "second")
            let reply = try books.decide(FixedResultCommand(result: result), as: other, at: time)
            #expect(reply.refusal == Refusal(.keyReused))
            #expect(!reply.isReplay && !reply.isRemembered && reply.requestID == "second")
            #expect(books.effects == before)
        }
    }

    @Test(
        "A refusal is remembered unless it concerns permissions, damage or a passing state",
        arguments: Refusal.Reason.allCases
    )
    func refusals(reason: Refusal.Reason) throws {
        let forgotten: Set<Refusal.Reason> = [
            .unknownUser, .unknownRecord, .forbidden, .ownSession, .keyReused, .accountChanged,
            .otherProvider, .unreadable, .tooManyWithdrawals, .dailyLimit,
            .unknownContest, .notOrganizer, .notEntrant, .ownContest, .joinTokenRequired,
            .contestUnderReview, .potUnequal,
        ]
        let refusal = Refusal(reason, required: 7, available: 3)
        var books = books()
        let command = FixedResultCommand(result: .failure(refusal))
        let first = try books.decide(command, as: request(), at: time)
        #expect(first.refusal == refusal && !first.isReplay)
        #expect(first.isRemembered == !forgotten.contains(reason))
        #expect(books.effects.answers.isEmpty == forgotten.contains(reason))
        let paid = FixedResultCommand(
            result: .success(FixedResultCommand.Outcome(text: "", number: 1))
        )
        let second = try books.decide(paid, as: request(id: "second"), at: time)
        #expect(second.refusal == (forgotten.contains(reason) ? nil : refusal))
        #expect(second.isReplay == !forgotten.contains(reason))
    }

    @Test("If a request says so, a refusal for an unknown session is not remembered, others are")
    func remembersUnknown() throws {
        for (reason, isRemembered) in [
            (Refusal.Reason.unknownSession, false), (.insufficientBalance, true),
        ] {
            var books = books()
            let command = FixedResultCommand(result: .failure(Refusal(reason)))
            let reply = try books.decide(command, as: request(remembersUnknown: false), at: time)
            #expect(reply.refusal?.reason == reason)
            #expect(reply.isRemembered == isRemembered)
            #expect(books.effects.isEmpty == !isRemembered)
        }
    }

    @Test("A caller without an account is refused, and nothing is remembered")
    func unknownUser() throws {
        var books = Books(Snapshot())
        let command = FixedResultCommand(
            result: .success(FixedResultCommand.Outcome(text: "", number: 0))
        )
        let reply = try books.decide(command, as: request(), at: time)
        #expect(reply.refusal == Refusal(.unknownUser) && !reply.isRemembered)
        #expect(books.effects.isEmpty)
    }

    @Test("The answer to a payment or refund names its transfer, and a refusal names none")
    func transfer() throws {
        var rig = Rig()
        rig.bring(to: .locked)
        rig.submit(.send(session: 0, user: 1, key: 0, expected: 4))
        rig.submit(.send(session: 0, user: 1, key: 1, expected: 5))
        rig.submit(.refund(session: 0, user: 0, key: 0, amount: 2))
        func answer(_ user: Int, _ command: String, _ key: Int) -> Answer? {
            let key = Cast.keys[key]
            return rig.books.rows.answers[
                Answer.Key(user: Cast.users[user], command: command, key: key)
            ]
        }
        let refused = try #require(answer(1, "pay", 0))
        #expect(refused.record == RecordID(Cast.sessions[0]))
        #expect(refused.step == nil && refused.transfer == nil)
        #expect(refused.decision == .refused(Refusal(.amountChanged)))
        let record = RecordID(Cast.sessions[0])
        let paid = try #require(answer(1, "pay", 1))
        #expect(paid.transfer == Transfer.Key(record, "paid"))
        let id = Transfer.Key(record, "paid").id
        #expect(paid.decision == .outcome(#"{"newBalance":5,"transfer":"\#(id)"}"#))
        let refund = try #require(answer(0, "refund", 0))
        #expect(refund.transfer == Transfer.Key(record, "refund/2"))
    }

    @Test("A stored outcome that cannot be read is an error, and is not decided again")
    func corrupt() throws {
        for json in ["", "{}", "null", #"{"number":"1","text":""}"#, "not JSON"] {
            var rows = books().rows
            let request = request()
            let key = Answer.Key(user: request.user, command: "told", key: request.key)
            rows.answers[key] = Answer(
                key: key,
                fingerprint: request.fingerprint,
                decision: .outcome(json),
                record: Post.record,
                step: nil,
                requestID: "first",
                decidedAt: time
            )
            var books = Books(rows)
            let command = FixedResultCommand(
                result: .success(FixedResultCommand.Outcome(text: "", number: 0))
            )
            let error = #expect(throws: LedgerError.self) {
                try books.decide(command, as: request, at: time)
            }
            #expect(error?.code == .corrupt)
            #expect(books.effects.isEmpty)
        }
    }

    @Test("A refused command that has changed something ends the program")
    func changedBeforeRefusal() async {
        await #expect(processExitsWith: .failure) {
            struct Sloppy: LedgerCommand {
                static let name = "sloppy"
                func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {}
                func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> Bool {
                    books.probe(at: time)
                    throw Refusal(.forbidden)
                }
            }
            var books = Books(Snapshot())
            _ = books.decide(Sloppy(), at: Timestamp(milliseconds: 0))
        }
    }
}
