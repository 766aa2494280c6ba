import FoundationEssentials
import GotchuAPI
import GotchuCore
import LocalAPI
import TestSupport
import Testing

@testable import GotchuDaemon

@Suite("Withdrawals made by a daemon")
struct WithdrawalDriveTests {
    private func service(_ bench: Bench) -> WithdrawalService {
        WithdrawalService(bench.core, clock: bench.clock)
    }

    private static let wish = NewWithdrawal(amountCents: 500)

    @Test("A withdrawal is repeated with one key until its outcome is certain, and is made once")
    func lost() async throws {
        let bench = try Bench()
        bench.server.script(.withdraw, .lost, .doneUnheard, .page(502), .refused(403, "FORBIDDEN"))
        let service = service(bench)
        let id = try await service.create(Self.wish, key: nil).view.id
        await service.drive(id, isUncertain: false)
        let calls = bench.server.calls(.withdraw)
        #expect(calls.count == 5)
        #expect(Set(calls.map(\.key)).count == 1 && Set(calls.map(\.body)).count == 1)
        #expect(bench.server.movements == 1)
        // The journal contained the withdrawal before the first call.
        guard case .withdrawal(let record) = calls[0].journalled else {
            Issue.record("\(String(describing: calls[0].journalled))")
            return
        }
        #expect(record.id == id && record.end == nil)
        let view = try await service.view(of: id)
        #expect(view.state == .ordered && view.withdrawal?.status == .pending)
    }

    @Test("A withdrawal continues after a restart with its key, and is made once")
    func resumed() async throws {
        let first = try Bench()
        first.server.script(.withdraw, .doneUnheard)
        let before = service(first)
        let id = try await before.create(Self.wish, key: nil).view.id
        let wait = first.clock.holdNextSleep()
        // SAFETY: ended and awaited here.
        let driver = Task {
            await before.drive(id, isUncertain: false)
            wait.leave()
        }
        await wait.reached()
        let records = first.journal.records
        let second = try Bench(records, server: first.server)
        let after = service(second)
        await after.drive(id, isUncertain: true)
        #expect(try await after.view(of: id).state == .ordered)
        #expect(Set(first.server.calls(.withdraw).map(\.key)).count == 1)
        #expect(first.server.movements == 1)
        wait.open()
        await driver.value
    }

    @Test("A withdrawal counts as open for another user's login until a refusal ends it")
    func refused() async throws {
        let bench = try Bench()
        bench.server.script(.withdraw, .declined(402, "INSUFFICIENT_WALLET_BALANCE"))
        let service = service(bench)
        let id = try await service.create(Self.wish, key: nil).view.id
        #expect(await service.hasOpenRecord(notOf: "bob"))
        await service.drive(id, isUncertain: false)
        let view = try await service.view(of: id)
        #expect(view.state == .declined && view.code == "INSUFFICIENT_WALLET_BALANCE")
        #expect(await service.hasOpenRecord(notOf: "bob") == false)
        #expect(bench.server.movements == 0)
    }

    @Test("Calls with one key make one withdrawal, and a call with another amount is refused")
    func repeated() async throws {
        let bench = try Bench()
        let service = service(bench)
        let key = try #require(IdempotencyKey(rawValue: "0123456789abcdef"))
        async let one = service.create(Self.wish, key: key)
        async let two = service.create(Self.wish, key: key)
        let (first, second) = try await (one, two)
        #expect(first.view.id == second.view.id)
        let again = try await service.create(Self.wish, key: key)
        #expect(again.isReplay && again.view.id == first.view.id)
        #expect(bench.journal.records.count == 1)
        let other = NewWithdrawal(amountCents: 501)
        await #expect(throws: Problem.self) { try await service.create(other, key: key) }
    }
}
