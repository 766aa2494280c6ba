import Devices
import GotchuCore
import Ledger
import Testing

@testable import GotchuServer

@Suite("Guessing at EIDs")
struct MissTests {
    private let clock = TestClock()
    private let limiter: MissLimiter

    init() {
        limiter = MissLimiter { [clock] in clock.now }
    }

    private func address(_ number: UInt8) -> RateLimitSubject {
        .address(ClientAddress(v4: [10, 0, 0, number]))
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

    @Test("Misses of a user's device do not keep the user's own questions from being answered")
    func device() {
        let login = Login(user: UserID(trusted: "u"))
        for _ in 0..<50 { limiter.missed(.background(login)) }
        #expect(limiter.wait(for: .background(login)) != nil)
        #expect(limiter.wait(for: .login(login)) == nil)
    }

    @Test("Background questions of a device are counted apart from its user's own")
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

    @Test("misses that were asked for at once are owed")
    func debt() {
        for _ in 0..<30 { limiter.missed(address(1)) }
        #expect(limiter.wait(for: address(1)) == 110)
    }

    @Test("Too many misses by all addresses together slow only those that missed recently")
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

    /// How long the first hit takes at least, among a thousand live sessions, however many
    /// addresses guess.
    private static let fewestDaysToHit = 200.0

    /// Lets `count` addresses guess once a second each, as fast as they are allowed to.
    ///
    /// - Returns: How many guesses were answered in each second of the second half.
    private func rate(ofAddresses count: Int, seconds: Int) -> Double {
        var answered = 0
        for second in 0..<seconds {
            if second == seconds / 2 { answered = 0 }
            for number in 0..<count {
                let bytes = (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
                let subject = RateLimitSubject.address(ClientAddress(v4: bytes))
                guard limiter.wait(for: subject) == nil else { continue }
                limiter.missed(subject)
                answered += 1
            }
            clock.advance(.seconds(1))
        }
        return Double(answered) / Double(seconds - seconds / 2)
    }

    @Test(
        "no number of addresses makes guessing worth while",
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

    @Test("A flood of guesses leaves callers without misses and known users their answers")
    func honestAmongThieves() {
        for number in 0..<90 as Range<UInt8> {
            for _ in 0..<4 { limiter.missed(address(number)) }
        }
        // The common budget is spent: those who missed wait, newcomers do not.
        #expect(limiter.wait(for: address(1)) != nil)
        #expect(limiter.wait(for: address(200)) == nil)
        for number in 0..<250 as Range<UInt8> {
            for _ in 0..<2 { limiter.missed(.address(ClientAddress(v4: [10, 1, 1, number]))) }
        }
        // Now the newcomers' is spent as well; a user has one apart.
        #expect(limiter.wait(for: address(201)) != nil)
        let user = RateLimitSubject.login(Login(user: UserID(trusted: "u")))
        #expect(limiter.wait(for: user) == nil)
        for _ in 0..<20 { limiter.missed(user) }
        #expect(limiter.wait(for: user) == 10)
        clock.advance(.seconds(60))
        #expect(limiter.wait(for: address(202)) == nil)
    }
}
