import GotchuCore
import Synchronization
import Testing

@testable import LedgerStore

@Suite("The database's clock")
struct DatabaseClockTests {
    private func moment(_ seconds: Double) -> MonotonicTime {
        MonotonicTime(sinceStart: .seconds(seconds))
    }

    private func time(_ milliseconds: Int64) -> Timestamp { Timestamp(milliseconds: milliseconds) }

    @Test("The clock advances by itself, and is corrected only by an answer that contradicts it")
    func looks() {
        let reading = Mutex(moment(100))
        let clock = DatabaseClock { reading.withLock { $0 } }
        // Before the first answer the clock shows the time of this machine.
        #expect(abs(clock.now.duration(to: .now).inSeconds) < 60)
        clock.set(time(5_000_000), asked: moment(99.9), answered: moment(100.1))
        #expect(clock.now == time(5_000_000))
        reading.withLock { $0 = moment(107) }
        #expect(clock.now == time(5_007_000))
        // The answer took four seconds. PostgreSQL may have read its clock at any moment of them.
        clock.set(time(5_004_000), asked: moment(103), answered: moment(107))
        #expect(clock.now == time(5_007_000))
        clock.set(time(5_008_000), asked: moment(106.9), answered: moment(107))
        #expect(clock.now == time(5_008_000))
        // The database's clock was set back by an hour.
        clock.set(time(1_408_000), asked: moment(106.8), answered: moment(107))
        #expect(clock.now == time(1_408_200))
    }
}
