import Devices
import GotchuAPI
import GotchuCore
import Ledger
import Testing

@testable import GotchuServer

@Suite("Limits and parsing")
struct LimitTests {
    @Test("A limiter allows as many calls as its capacity at once, and then calls at its rate")
    func bucket() {
        let clock = TestClock()
        let limiter = CallerLimiter<ClientAddress>(.init(capacity: 3, perSecond: 0.5)) { clock.now }
        let address = ClientAddress(v4: [127, 0, 0, 1])
        #expect((0..<3).allSatisfy { _ in limiter.draw(for: address).wait == nil })
        #expect(limiter.draw(for: address).wait == 2)
        #expect(limiter.draw(for: ClientAddress(v4: [127, 0, 0, 2])).wait == nil)
        clock.advance(.seconds(2))
        #expect(limiter.draw(for: address).wait == nil)
        #expect(limiter.draw(for: address).wait == 2)
    }

    @Test(
        "Addresses above the limit of stored callers share one bucket and are not stored"
    )
    func flood() {
        let clock = TestClock()
        let limiter = CallerLimiter<ClientAddress>(.init(capacity: 2, perSecond: 1)) { clock.now }
        for number in 0..<UInt32(CallerLimiter<ClientAddress>.callerLimit + 10) {
            let bytes = (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
            _ = limiter.draw(for: ClientAddress(v4: bytes))
        }
        #expect(limiter.callerCount == CallerLimiter<ClientAddress>.callerLimit)
        #expect(limiter.draw(for: ClientAddress(v4: [255, 255, 255, 255])).wait != nil)
        clock.advance(.seconds(2))
        #expect(limiter.draw(for: ClientAddress(v4: [255, 255, 255, 255])).wait == nil)
        #expect(limiter.callerCount == 1)
    }

    @Test("After a second, new callers replace the stored callers and get full buckets")
    func manyCallers() {
        let clock = TestClock()
        let limiter = CallerLimiter<Int>(.init(capacity: 300, perSecond: 50)) { clock.now }
        let limit = CallerLimiter<Int>.callerLimit
        for caller in 0..<limit { _ = limiter.draw(for: caller) }
        clock.advance(.seconds(1))
        let left = (limit..<2 * limit).map { limiter.draw(for: $0).left.remaining }
        #expect(left.allSatisfy { $0 == 299 })
    }

    @Test(
        "A login can look up EIDs after an address and another device of the user are limited"
    )
    func resolvesByLogin() throws {
        let limits = Limits(callsPerSecond: 50)
        let address = RateLimitSubject.address(ClientAddress(v4: [127, 0, 0, 1]))
        #expect(throws: ProblemWithHeaders.self) {
            for _ in 0..<10_000 { try limits.allowResolve(as: address) }
        }
        let user = UserID(trusted: "u")
        let till = Login(user: user, device: DeviceID(trusted: "d"))
        #expect(throws: ProblemWithHeaders.self) {
            for _ in 0..<10_000 { try limits.allowResolve(as: .login(till)) }
        }
        for login in [Login(user: user), Login(user: user, device: DeviceID(trusted: "e"))] {
            try limits.allowResolve(as: .login(login))
        }
    }

    @Test("An IPv6 /64 network is one client, and a mapped IPv4 address equals the IPv4 address")
    func addresses() {
        let network: [UInt8] = [0x20, 1, 0xD, 0xB8, 0, 0, 0, 1]
        let one = ClientAddress(v6: network + [0, 0, 0, 0, 0, 0, 0, 1])
        #expect(one == ClientAddress(v6: network + [9, 9, 9, 9, 9, 9, 9, 9]))
        let mapped = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF, 10, 0, 0, 1]
        #expect(ClientAddress(v6: mapped) == ClientAddress(v4: [10, 0, 0, 1]))
    }

    @Test("A JSON object with each kind of value is parsed")
    func json() throws {
        let text =
            #" { "a" : "\u00e4\ud83d\ude00\n" , "b":-0, "c":1.0, "d":null,"e":[{}],"f":true}"#
        let object = try JSONReader.object(Array(text.utf8))
        #expect(
            object == [
                "a": .string("ä😀\n"), "b": .integer(0), "c": .otherNumber(1), "d": .null,
                "e": .array([.object([:])]), "f": .boolean(true),
            ]
        )
    }

    @Test(
        "A body that is not one JSON object is refused",
        arguments: [
            "", "{", "}", "[]", "1", #"{"a":01}"#, #"{"a":1.}"#, #"{"a":.5}"#, #"{"a":+1}"#,
            #"{"a":1e}"#, #"{"a":tru}"#, #"{"a":"\x"}"#, #"{"a":"\ud83d"}"#, #"{"a":"\ude00"}"#,
            "{\"a\":\"\n\"}", #"{"a":1 "b":2}"#, #"{a:1}"#, #"{"a":1,"a":1}"#, #"{"a":1}x"#,
            #"{"a":\#(String(repeating: "[", count: 100))}"#,
        ]
    )
    func malformedJSON(text: String) {
        #expect(throws: JSONReader.Malformed.self) { try JSONReader.object(Array(text.utf8)) }
    }

    @Test(
        "The error for an invalid body reports the offset at which it becomes invalid",
        arguments: [("", 0), (#"{"a":1}x"#, 7), (#"{"a":tru}"#, 5), (#"{"a":1,"a":2}"#, 12)]
    )
    func place(text: String, offset: Int) {
        let problem = #expect(throws: Problem.self) { try JSONFields(Array(text.utf8)) }
        #expect(problem?.detail.hasSuffix("at byte \(offset).") == true)
    }

    @Test("A body that is not UTF-8 is refused")
    func notText() {
        #expect(throws: JSONReader.Malformed.self) {
            try JSONReader.object(Array("{\"a\":\"".utf8) + [0xC3, 0x28] + Array("\"}".utf8))
        }
    }

    @Test("Only the machine's own addresses count as loopback, and invalid addresses are refused")
    func loopback() {
        for text in ["127.0.0.1:0", "127.9.9.9:80", "localhost:1", "[::1]:8080"] {
            #expect(ListenAddress(text)?.isLoopback == true, "\(text)")
        }
        for text in ["0.0.0.0:0", "127.0.0.1.example:80", "[::]:1", "192.168.0.1:1", "127.1:1"] {
            #expect(ListenAddress(text)?.isLoopback == false, "\(text)")
        }
        for text in ["127.0.0.1", ":80", "::1:80", "127.0.0.1:70000", "127.0.0.1:x"] {
            #expect(ListenAddress(text) == nil, "\(text)")
        }
    }

    @Test("The local part of an e-mail address becomes the name; an invalid address is refused")
    func emails() {
        #expect(DevelopmentLogin.localPart(of: "Corner.Cafe@shop.example") == "Corner.Cafe")
        for text in ["", "@", "a@", "@b", "a@b@c", "a b@c", "ä@b", "a\"@b", "a@b\n"] {
            #expect(DevelopmentLogin.localPart(of: text) == nil, "\(text)")
        }
        #expect(DevelopmentLogin.localPart(of: String(repeating: "a", count: 300) + "@b") == nil)
    }
}
