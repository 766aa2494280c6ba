import GotchuCore
import Testing

@testable import GotchuServer

@Suite("Guessing at EIDs")
struct MissTests {
    private let clock = TestClock()
    private let limiter: MissLimiter

    init() {
        limiter = MissLimiter { [clock] in clock.now }
    }

    private func address(_ number: UInt8) -> ClientAddress {
        ClientAddress(v4: [10, 0, 0, number])
    }

    @Test("an address may miss twenty times and then once in ten seconds")
    func oneAddress() {
        for _ in 0..<20 {
            #expect(limiter.wait(for: address(1)) == nil)
            limiter.missed(address(1))
        }
        #expect(limiter.wait(for: address(1)) == 10)
        #expect(limiter.wait(for: address(2)) == nil)
        clock.advance(.seconds(10))
        #expect(limiter.wait(for: address(1)) == nil)
    }

    @Test("misses that were asked for at once are owed")
    func debt() {
        for _ in 0..<30 { limiter.missed(address(1)) }
        #expect(limiter.wait(for: address(1)) == 110)
    }

    @Test("when all together miss too often, only those who missed of late are slowed")
    func everybody() {
        for number in 0..<10 as Range<UInt8> {
            for _ in 0..<10 { limiter.missed(address(number)) }
        }
        limiter.missed(address(100))
        #expect(limiter.wait(for: address(0)) == 1)
        #expect(limiter.wait(for: address(100)) == 1)
        #expect(limiter.wait(for: address(101)) == nil)
        clock.advance(.seconds(1))
        #expect(limiter.wait(for: address(100)) == nil)
    }

    @Test("asking without missing costs nothing")
    func honest() {
        for _ in 0..<1_000 { #expect(limiter.wait(for: address(1)) == nil) }
    }
}
