import FoundationEssentials
import GotchuAPI
import GotchuCore
import LocalAPI
import TestSupport
import Testing

@testable import GotchuDaemon

@Suite("Contest entries made by a daemon")
struct ContestEntryDriveTests {
    private let key = IdempotencyKey.random()

    private func service(_ bench: Bench) -> ContestEntryService {
        ContestEntryService(bench.core, clock: bench.clock)
    }

    private func begin(_ service: ContestEntryService, fee: Int64 = 500) async throws -> String {
        try await service.create(ContestSample.entry(fee: fee), key: key).view.id
    }

    private func end(
        of id: String,
        in service: ContestEntryService
    ) async throws -> ContestEntryRecord.End? {
        try await service.view(of: id).end
    }

    @Test(
        "An entry's call is repeated with its key until its outcome is certain; one entry is made"
    )
    func lost() async throws {
        let bench = try Bench()
        bench.server.script(.join, .lost, .doneUnheard, .page(200), .refused(403, "FORBIDDEN"))
        let service = service(bench)
        let id = try await begin(service)
        await service.drive(id, isUncertain: false)
        let calls = bench.server.calls(.join)
        #expect(calls.count == 5)
        #expect(Set(calls.map(\.key)) == [key.rawValue])
        #expect(Set(calls.map(\.body)) == [#"{"entry_fee_cents":500}"#])
        #expect(bench.server.movements == 1)
        // The journal contained the entry before the first call.
        guard case .contestEntry(let record) = calls[0].journalled else {
            Issue.record("\(String(describing: calls[0].journalled))")
            return
        }
        #expect(record.id == id && record.isOpen && record.key == key)
        #expect(try await end(of: id, in: service) == .joined)
    }

    @Test(
        "An entry that a restart interrupts continues with its key, and is made once",
        arguments: 0...2
    )
    func resumed(step: Int) async throws {
        let first = try Bench()
        // Step 0 loses the call, step 1 loses its answer, and step 2 cannot journal the entry's
        // end.
        switch step {
        case 0: first.server.script(.join, .lost)
        case 1: first.server.script(.join, .doneUnheard)
        default: first.journal.fail(2)
        }
        let before = service(first)
        let id = try await begin(before)
        let wait = first.clock.holdNextSleep()
        // SAFETY: ended and awaited here.
        let driver = Task {
            await before.drive(id, isUncertain: false)
            wait.leave()
        }
        await wait.reached()
        let second = try Bench(first.journal.records, server: first.server)
        let after = service(second)
        #expect(try await end(of: id, in: after) == nil)
        #expect(await after.hasOpenRecord(notOf: "bob"))
        await after.drive(id, isUncertain: true)
        #expect(try await end(of: id, in: after) == .joined)
        #expect(Set(first.server.calls(.join).map(\.key)) == [key.rawValue])
        #expect(Set(first.server.calls(.join).map(\.body)).count == 1)
        #expect(first.server.movements == 1)
        driver.cancel()
        await driver.value
        // After a third start, the same key returns the ended entry.
        let third = try Bench(second.journal.records, server: first.server)
        let later = service(third)
        let repeated = try await later.create(ContestSample.entry(), key: key)
        #expect(repeated.isReplay && repeated.view.end == .joined)
    }

    @Test(
        "A refusal ends an entry, is known after a restart, and names the required amount"
    )
    func refused() async throws {
        let bench = try Bench()
        bench.server.script(.join, .declined(402, "INSUFFICIENT_WALLET_BALANCE"))
        let service = service(bench)
        let id = try await begin(service)
        #expect(await service.hasOpenRecord(notOf: "bob"))
        await service.drive(id, isUncertain: false)
        #expect(await service.hasOpenRecord(notOf: "bob") == false)
        guard case .declined(let problem)? = try await end(of: id, in: service) else {
            Issue.record("The entry is not declined")
            return
        }
        #expect(problem.requiredCents == 500 && problem.availableCents == 200)
        let later = self.service(try Bench(bench.journal.records, server: bench.server))
        #expect(try await end(of: id, in: later) == .declined(problem))
        #expect(bench.server.movements == 0 && bench.server.calls(.join).count == 1)
    }

    @Test(
        "After a lost answer, a refusal ends an entry only if it is a decision on the entry's key"
    )
    func decided() async throws {
        let bench = try Bench()
        bench.server.script(
            .join,
            .lost,
            .refused(409, "CONTEST_STATE"),
            .refused(400, "VALIDATION_ERROR"),
            .refused(403, "CONTEST_FULL")
        )
        let service = service(bench)
        let id = try await begin(service)
        await service.drive(id, isUncertain: false)
        #expect(bench.server.calls(.join).count == 4)
        guard case .declined(let problem)? = try await end(of: id, in: service) else {
            Issue.record("The entry is not declined")
            return
        }
        #expect(problem.errorCode == .contestFull)
    }

    @Test("An entry that cannot be journalled is refused, and nothing is sent")
    func unwritable() async throws {
        let bench = try Bench()
        bench.journal.fail(1)
        let service = service(bench)
        await #expect {
            _ = try await begin(service)
        } throws: {
            ($0 as? Problem)?.errorCode == .journalUnwritable
        }
        #expect(bench.server.calls.isEmpty)
        #expect(await service.hasOpenRecord(notOf: nil) == false)
    }

    @Test(
        "Simultaneous calls with one key create one entry, and a call with another fee is refused"
    )
    func repeated() async throws {
        let bench = try Bench()
        let service = service(bench)
        async let first = begin(service)
        async let second = begin(service)
        let ids = try await [first, second]
        #expect(ids[0] == ids[1])
        // A call in another language returns the same entry.
        let entry = try ContestSample.entry(language: "de")
        let again = try await service.create(entry, key: key)
        #expect(again.isReplay && again.view.id == ids[0])
        await #expect {
            _ = try await begin(service, fee: 501)
        } throws: {
            ($0 as? Problem)?.errorCode == .idempotencyKeyReused
        }
    }

    @Test(
        "A call that waits for an entry's end returns the server's document, else the open entry"
    )
    func awaited() async throws {
        let bench = try Bench()
        let gate = bench.server.stop(at: .join)
        let service = service(bench)
        let id = try await begin(service)
        // SAFETY: awaited here.
        let driver = Task { await service.drive(id, isUncertain: false) }
        await gate.reached()
        let early = try await service.end(of: id, within: .zero)
        #expect(early.view.end == nil && early.view.reason == nil && early.reply == nil)
        // SAFETY: awaited here.
        let waiter = Task { try await service.end(of: id, within: .seconds(60)) }
        try await eventually("a call waits for the entry") {
            await service.waiting[id]?.isEmpty == false ? true : nil
        }
        gate.open()
        let (view, reply) = try await waiter.value
        #expect(view.end == .joined)
        #expect(reply?.bytes == Array(ContestSample.detail.utf8))
        await driver.value
        #expect(try await service.end(of: id, within: .seconds(60)).reply == nil)
    }
}
