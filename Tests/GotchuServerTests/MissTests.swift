import Devices
import GotchuCore
import Ledger
import Testing

@testable import GotchuServer

@Suite("Limits on guessing EIDs")
struct MissTests {
    private let clock = TestClock()
    private let limiter: MissLimiter

    init() {
        limiter = MissLimiter { [clock] in clock.now }
    }

    private func address(_ number: UInt8) -> RateLimitSubject {
        .address(ClientAddress(v4: [10, 0, 0, number]))
    }

    @Test("An address may look up twenty unknown EIDs at once, and then one in ten seconds")
    func oneAddress() {
        for _ in 0..<20 {
            #expect(limiter.wait(for: address(1)) == nil)
            limiter.countMiss(address(1))
        }
        #expect(limiter.wait(for: address(1)) == 10)
        #expect(limiter.wait(for: address(2)) == nil)
        clock.advance(.seconds(10))
        #expect(limiter.wait(for: address(1)) == nil)
    }

    @Test("Many background misses of a user's device do not block the user's own requests")
    func device() {
        let login = Login(user: UserID(trusted: "u"))
        for _ in 0..<50 { limiter.countMiss(.background(login)) }
        #expect(limiter.wait(for: .background(login)) != nil)
        #expect(limiter.wait(for: .login(login)) == nil)
    }

    @Test("The server counts a device's background misses separately from its user's other misses")
    func background() async throws {
        let server = try await ServerProcess()
        let token = try await server.wire.login("ann")
        func ask(_ headers: [String: String] = [:]) async throws -> Int {
            try await server.wire.call(
                "POST",
                "/sessions/resolve",
                #"{"eid":"0123456789"}"#,
                token: token,
                headers: headers
            ).status
        }
        let background = ["Priority": "u=7"]
        for _ in 0..<20 { #expect(try await ask(background) == 404) }
        #expect(try await ask(background) == 429)
        for _ in 0..<20 { #expect(try await ask() == 404) }
        #expect(try await ask() == 429)
    }

    @Test("Each miss above the limit makes the wait longer")
    func debt() {
        for _ in 0..<30 { limiter.countMiss(address(1)) }
        #expect(limiter.wait(for: address(1)) == 110)
    }

    @Test("Too many misses of all addresses together delay only addresses with recent misses")
    func everybody() {
        for number in 0..<10 as Range<UInt8> {
            for _ in 0..<10 { limiter.countMiss(address(number)) }
        }
        limiter.countMiss(address(100))
        #expect(limiter.wait(for: address(0)) == 1)
        #expect(limiter.wait(for: address(100)) == 1)
        #expect(limiter.wait(for: address(101)) == nil)
        clock.advance(.seconds(1))
        #expect(limiter.wait(for: address(100)) == nil)
    }

    @Test("A thousand requests without a miss cause no delay")
    func honest() {
        for _ in 0..<1_000 { #expect(limiter.wait(for: address(1)) == nil) }
    }

    /// The minimum number of days until a guess is expected to hit one of a thousand sessions.
    private static let fewestDaysToHit = 200.0

    /// Lets each of `count` addresses guess once a second, unless the limiter makes it wait.
    ///
    /// - Returns: The number of allowed guesses per second in the second half of the time.
    private func rate(ofAddresses count: Int, seconds: Int) -> Double {
        var answered = 0
        for second in 0..<seconds {
            if second == seconds / 2 { answered = 0 }
            for number in 0..<count {
                let bytes = (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
                let subject = RateLimitSubject.address(ClientAddress(v4: bytes))
                guard limiter.wait(for: subject) == nil else { continue }
                limiter.countMiss(subject)
                answered += 1
            }
            clock.advance(.seconds(1))
        }
        return Double(answered) / Double(seconds - seconds / 2)
    }

    @Test(
        "Guesses from 1, 100 or 12,000 addresses need 200 days or more to hit 1 of 1,000 sessions",
        arguments: [(1, 4_000), (100, 400), (12_000, 40)]
    )
    func attack(addresses: Int, seconds: Int) {
        let perSecond = rate(ofAddresses: addresses, seconds: seconds)
        #expect(perSecond > 0)
        for sessions in [100.0, 1_000, 10_000] {
            let days = 0x1p40 / sessions / perSecond / 86_400
            print("\(addresses) addresses: \(perSecond) guesses/s: a hit among", terminator: " ")
            print("\(Int(sessions)) sessions in \(days.rounded()) days")
            if sessions == 1_000 { #expect(days >= Self.fewestDaysToHit) }
        }
    }

    @Test(
        "Many misses delay first addresses with misses, then new addresses, but no logged-in user"
    )
    func honestAmongThieves() {
        for number in 0..<90 as Range<UInt8> {
            for _ in 0..<4 { limiter.countMiss(address(number)) }
        }
        // The limit of all addresses is reached: addresses with misses wait, new addresses do not.
        #expect(limiter.wait(for: address(1)) != nil)
        #expect(limiter.wait(for: address(200)) == nil)
        for number in 0..<250 as Range<UInt8> {
            for _ in 0..<2 { limiter.countMiss(.address(ClientAddress(v4: [10, 1, 1, number]))) }
        }
        // The limit of new addresses is reached too; a user has a separate limit.
        #expect(limiter.wait(for: address(201)) != nil)
        let user = RateLimitSubject.login(Login(user: UserID(trusted: "u")))
        #expect(limiter.wait(for: user) == nil)
        for _ in 0..<20 { limiter.countMiss(user) }
        #expect(limiter.wait(for: user) == 10)
        clock.advance(.seconds(60))
        #expect(limiter.wait(for: address(202)) == nil)
    }
}
