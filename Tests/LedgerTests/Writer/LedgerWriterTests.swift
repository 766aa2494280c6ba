import GotchuCore
import Ledger
import LedgerTestSupport
import Logging
import Payments
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing

@Suite("The writer")
struct LedgerWriterTests {
    private let memory: MemoryStore
    private let store: FaultyStore

    init() {
        memory = MemoryStore()
        store = FaultyStore(memory)
    }

    @Test("A hundred simultaneous payments with one key make one payment and get one answer")
    func oneKey() async throws {
        try await withLedger(on: store) { ledger in
            let payee = try await ledger.user("payee", cents: 0)
            let payer = try await ledger.user("payer", cents: 100)
            let session = try await ledger.lockedSession(payee: payee, payer: payer, cents: 7)
            let answers = try await withThrowingTaskGroup(of: CommandReply<Pay.Outcome>.self) {
                group in
                for _ in 0..<100 {
                    group.addTask {
                        try await ledger.pay(session, by: payer, key: "key-0123456789-0")
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.count { !$0.isReplay } == 1)
            #expect(answers.allSatisfy { $0.isAccepted && $0.outcome == answers[0].outcome })
            #expect(try await store.account(of: payer)?.balance == 93)
        }
        #expect(memory.books.complaint == nil)
    }

    @Test("At most a hundred refusals for unknown sessions are remembered per user on one day")
    func unknownSessions() async throws {
        try await withLedger(on: MemoryStore(fixedTime: .now)) { ledger in
            let users = [
                try await ledger.user("a", cents: 100), try await ledger.user("b", cents: 100),
            ]
            func isRemembered(_ number: Int, of user: UserID) async throws -> Bool {
                let unknown = try #require(SessionID(rawValue: "unknown"))
                let request = try KeyedRequest.test(user: user, key: "key-0123456789-\(number)")
                if number.isMultiple(of: 2) {
                    let refund = RefundPayment(session: unknown, payee: user, amount: nil)
                    let reply = try await ledger.submit(refund, as: request)
                    #expect(reply.refusal?.reason == .unknownSession)
                    return reply.isRemembered
                }
                let pay = Pay(session: unknown, payer: user, expectedAmount: nil)
                let reply = try await ledger.submit(pay, as: request)
                #expect(reply.refusal?.reason == .unknownSession)
                return reply.isRemembered
            }
            var remembered = 0
            for number in 0..<250 {
                if try await isRemembered(number, of: users[0]) { remembered += 1 }
            }
            #expect(remembered == 100)
            #expect(try await isRemembered(0, of: users[0]), "the refusal stays remembered")
            #expect(try await isRemembered(0, of: users[1]))
        }
    }

    @Test("A payer whose lock is over cannot see the session any more")
    func visibility() async throws {
        try await withLedger(on: store) { ledger in
            let payee = try await ledger.user("payee", cents: 0)
            let payer = try await ledger.user("payer", cents: 100)
            let session = try await ledger.openSession(
                payee: payee,
                cents: 7,
                lifetime: .seconds(1)
            )
            _ = try await ledger.submit(LockSession(session: session.id, payer: payer)).get()
            // The reads are so frequent that a read records the expiry before the sweep does.
            while true {
                switch try await ledger.session(session.id, visibleTo: payer) {
                case .success(let seen): #expect(seen.status == .locked)
                case .failure(let refusal): return #expect(refusal.reason == .forbidden)
                }
            }
        }
    }

    @Test("64 payers pay one payee at once, and no cent is lost")
    func hotPayee() async throws {
        try await withLedger(on: store) { ledger in
            let payee = try await ledger.user("payee", cents: 0)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<64 {
                    group.addTask {
                        let payer = try await ledger.user("payer\(number)", cents: 100)
                        let session = try await ledger.lockedSession(
                            payee: payee,
                            payer: payer,
                            cents: Int64(number + 1)
                        )
                        _ = try await ledger.pay(session, by: payer, key: "key-0123456789-0")
                    }
                }
                try await group.waitForAll()
            }
            let range = HistoryRange(.newest(skipping: 0), limit: 100)
            let history = try await store.history(of: Account.Key(.user(payee), .usd), range)
            #expect(history?.account.balance == (1...64).reduce(0, +))
            #expect(history?.account.earned == (1...64).reduce(0, +))
            #expect(history?.entries.count == 64)
        }
        #expect(memory.books.complaint == nil)
    }

    @Test("A payer with money for ten of 64 simultaneous payments makes exactly ten")
    func tenOfSixtyFour() async throws {
        let paid = try await withLedger(on: store) { ledger in
            let payee = try await ledger.user("payee", cents: 0)
            let payer = try await ledger.user("payer", cents: 109)
            return try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<64 {
                    group.addTask {
                        let session = try await ledger.lockedSession(
                            payee: payee,
                            payer: payer,
                            cents: 10
                        )
                        let key = "key-0123456789-\(number)"
                        let answer = try await ledger.pay(session, by: payer, key: key)
                        return answer.isAccepted
                    }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
        }
        #expect(paid == 10)
        #expect(memory.books.complaint == nil)
    }

    @Test("After a failed commit every caller is told to try again, and a key can be used again")
    func failedCommit() async throws {
        try await withLedger(on: store) { ledger in
            let payee = try await ledger.user("payee", cents: 0)
            let payer = try await ledger.user("payer", cents: 100)
            let session = try await ledger.lockedSession(payee: payee, payer: payer, cents: 7)
            store.fail(with: LedgerError(.tryAgain, "The disk is full."))
            let codes = await withTaskGroup(of: LedgerError.Code?.self) { group in
                for number in 0..<20 {
                    group.addTask {
                        do {
                            _ = try await ledger.pay(
                                session,
                                by: payer,
                                key: "key-0123456789-\(number)"
                            )
                            return nil
                        } catch {
                            return (error as? LedgerError)?.code
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(codes == Array(repeating: .tryAgain, count: 20))
            store.fail(with: nil)
            let key = "key-0123456789-3"
            #expect(try await ledger.pay(session, by: payer, key: key).isReplay == false)
        }
    }

    @Test("A writer's time follows a large step back of the clock, and waits during a small step")
    func clockSetBack() async throws {
        let right = Timestamp(milliseconds: 1_000_000_000_000)
        let clock = Mutex(right.advanced(by: .seconds(7_200)))
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let writer = LedgerWriter(store: store, feed: ChangeFeed(), logger: logger) {
            clock.withLock { $0 }
        }
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(services: [writer], logger: logger)
        )
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            let open = OpenAccount(login: "a", displayName: "a", opening: Money(minorUnits: 0))
            _ = try await writer.submit(open)
            func created() async throws -> Timestamp {
                let create = CreateSession(
                    payee: open.user,
                    amount: Money(minorUnits: 5),
                    memo: nil,
                    reference: nil,
                    lifetime: .seconds(300)
                )
                return try await writer.submit(create).outcome.get().session.createdAt
            }
            let ahead = right.advanced(by: .seconds(7_200))
            #expect(try await created() == ahead)
            clock.withLock { $0 = ahead.advanced(by: .milliseconds(-1_500)) }
            #expect(try await created() == ahead)
            clock.withLock { $0 = right }
            #expect(try await created() == right)
            clock.withLock { $0 = right.advanced(by: .milliseconds(-200)) }
            #expect(try await created() == right)
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
    }

    @Test("A command that the store rejects does not affect the other commands of its batch")
    func rejected() async throws {
        try await withLedger(on: store) { ledger in
            let first = try await ledger.user("first", cents: 100)
            // The user's id is taken. Only the database can see this.
            let clash = OpenAccount(
                login: "clash@example.org",
                displayName: "clash",
                opening: Money(minorUnits: 0),
                user: first
            )
            await store.hold()
            async let warmUp: Void = ledger.probe()
            await store.waitForCommit()
            async let bad = Self.code(of: clash, in: ledger)
            async let good = ledger.user("good", cents: 5)
            try await ledger.waitForQueue(of: 2)
            await store.release()
            try await warmUp
            #expect(await bad == .tryAgain)
            let user = try await good
            #expect(try await store.account(of: user)?.balance == 5)
        }
        #expect(memory.books.complaint == nil)
    }

    private static func code(
        of open: OpenAccount,
        in ledger: Ledger
    ) async -> LedgerError.Code? {
        do {
            _ = try await ledger.submit(open)
            return nil
        } catch {
            return error.code
        }
    }

    @Test("A command is committed even if its caller is cancelled during the commit")
    func cancelledCaller() async throws {
        try await withLedger(on: store) { ledger in
            await store.hold()
            // SAFETY: owned by this test, which awaits it below.
            let caller = Task { try await ledger.user("gone", cents: 5) }
            await store.waitForCommit()
            caller.cancel()
            async let other = ledger.user("other", cents: 6)
            await store.release()
            let gone = try await caller.value
            #expect(try await store.account(of: gone)?.balance == 5)
            let neighbour = try await other
            #expect(try await store.account(of: neighbour)?.balance == 6)
        }
    }

    @Test("A ledger that has stopped refuses new commands")
    func stop() async throws {
        let ledger = try await withLedger(on: store) { ledger in
            _ = try await ledger.user("first", cents: 5)
            return ledger
        }
        let error = await #expect(throws: LedgerError.self) {
            try await ledger.user("late", cents: 5)
        }
        #expect(error?.code == .tryAgain)
    }
}
