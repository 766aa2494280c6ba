import GotchuAPI
import GotchuCore
import LocalAPI
import TestSupport
import Testing

@testable import GotchuDaemon

@Suite("Cancelling a payment")
struct PaymentCancelTests {
    @Test(
        "A payment that is cancelled before its lock call sends nothing more, even after a restart"
    )
    func beforeFirstByte() async throws {
        let bench = try Bench()
        let id = try await bench.agree()
        let view = try await bench.payments.cancel(id)
        #expect(view.state == .declined && view.code == "PAYMENT_CANCELLED")
        await bench.payments.drive(id, isResumed: false)
        #expect(bench.server.routes == [.resolve])
        #expect(try await bench.payments.cancel(id) == view)
        let next = try Bench(bench.journal.records, server: bench.server)
        await next.drive(isResumed: true)
        #expect(bench.server.routes == [.resolve])
    }

    @Test("A payment that is cancelled during its lock call releases the lock")
    func whileLocking() async throws {
        let bench = try Bench()
        let lock = bench.server.stop(at: .lock)
        let id = try await bench.agree()
        async let driven: Void = bench.payments.drive(id, isResumed: false)
        await lock.reached()
        #expect(try await bench.payments.cancel(id).code == "PAYMENT_CANCELLED")
        // The lock call is not answered yet, so a second payment is refused.
        await #expect { try await bench.agree() } throws: {
            ($0 as? Problem)?.errorCode == .paymentInProgress
        }
        lock.open()
        await driven
        #expect(bench.server.routes == [.resolve, .lock, .unlock])
        #expect(try await bench.payments.view(of: id).code == "PAYMENT_CANCELLED")
        #expect(try await bench.pay().state == .paid)
    }

    @Test("A cancellation ends the wait before a repeated lock call, and releases the lock")
    func whileWaiting() async throws {
        let bench = try Bench()
        bench.server.script(.lock, .lost)
        let wait = bench.clock.holdNextSleep()
        let id = try await bench.agree()
        async let driven: Void = bench.payments.drive(id, isResumed: false)
        await wait.reached()
        let before = try await bench.payments.view(of: id)
        #expect(before.state == .locking && before.nextStep == "gotchu-ctl cancel \(id)")
        _ = try await bench.payments.cancel(id)
        await driven
        #expect(bench.server.routes == [.resolve, .lock, .unlock])
        #expect(bench.server.movements == 0)
    }

    @Test("A payment whose send call has begun cannot be cancelled")
    func sent() async throws {
        let bench = try Bench()
        let send = bench.server.stop(at: .send)
        let id = try await bench.agree()
        async let driven: Void = bench.payments.drive(id, isResumed: false)
        await send.reached()
        await #expect { try await bench.payments.cancel(id) } throws: {
            ($0 as? Problem)?.errorCode == .paymentInProgress
        }
        send.open()
        await driven
        #expect(try await bench.payments.view(of: id).state == .paid)
    }

    @Test("A cancellation that cannot be journalled is refused, and the payment continues")
    func unwritten() async throws {
        let bench = try Bench()
        let id = try await bench.agree()
        bench.journal.fail(3)
        await #expect { try await bench.payments.cancel(id) } throws: {
            ($0 as? Problem)?.errorCode == .journalUnwritable
        }
        await bench.payments.drive(id, isResumed: false)
        #expect(try await bench.payments.view(of: id).state == .paid)
    }
}
