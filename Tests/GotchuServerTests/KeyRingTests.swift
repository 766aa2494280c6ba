import AsyncHTTPClient
import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

@testable import GotchuServer

@Suite("An issuer's keys")
struct KeyRingTests {
    private let clock = TestClock()
    private let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// Runs `body` with a key ring that loads from `source`, and shuts down the HTTP client.
    private func withRing(
        _ source: KeySource,
        _ body: (KeyRing) async throws -> Void
    ) async throws {
        let http = HTTPClient(configuration: KeySource.httpConfiguration)
        let ring = KeyRing(clock: { [clock] in clock.now }, logger: quiet) {
            try await source.load(http)
        }
        let result: Result<Void, any Error>
        do { result = .success(try await body(ring)) } catch { result = .failure(error) }
        try await http.shutdown()
        try result.get()
    }

    @Test(
        "Keys are fetched again for a new id, at most once a minute; withdrawn keys are removed"
    )
    func rotation() async throws {
        let issuer = try await IssuerProcess()
        try await issuer.act(#"{"op":"set","published":["rsa"]}"#)
        let source = try #require(KeySource(issuer.keys))
        try await withRing(source) { ring in
            #expect(await ring.key(id: "rsa")?.algorithmName == "RS256")
            try await issuer.act(#"{"op":"set","published":["p256","ed"]}"#)
            #expect(await ring.key(id: "p256") == nil)
            #expect(await ring.key(id: "rsa") != nil)
            #expect(try await issuer.fetches == 1)
            clock.advance(.seconds(60))
            #expect(await ring.key(id: "p256")?.algorithmName == "ES256")
            #expect(await ring.key(id: "rsa") == nil)
            #expect(try await issuer.fetches == 2)
        }
    }

    @Test(
        "Known keys stay valid if a fetch fails, is too large or is redirected",
        arguments: ["fail", "huge", "redirect"]
    )
    func failure(mode: String) async throws {
        let issuer = try await IssuerProcess()
        let source = try #require(KeySource(issuer.keys))
        try await withRing(source) { ring in
            #expect(await ring.key(id: "ed")?.algorithmName == "EdDSA")
            try await issuer.act(#"{"op":"set","mode":"\#(mode)"}"#)
            clock.advance(.seconds(60))
            #expect(await ring.key(id: "unknown") == nil)
            #expect(try await issuer.fetches == 2)
            #expect(await ring.key(id: "ed") != nil)
        }
    }

    @Test("Each key has one algorithm, and short, secret and other unsuitable keys are ignored")
    func pinned() async throws {
        let issuer = try await IssuerProcess()
        let keys = try await issuer.act(#"{"op":"keys"}"#)
        let set = try await KeySet([UInt8](keys.bytes))
        let names = ["rsa", "pss", "p256", "p384", "ed"].map { set[$0]?.algorithmName }
        #expect(names == ["RS256", "PS256", "ES256", "ES384", "EdDSA"])
        #expect(set["secret"] == nil && set["short"] == nil && set.count == 5)
    }

    @Test(
        "A document with no usable key or with too many keys is refused with the reason",
        arguments: [
            ("", "no JSON Web Key Set"), ("{}", "no JSON Web Key Set"),
            ("[]", "no JSON Web Key Set"), (#"{"keys":[]}"#, "None of its 0 keys"),
            (#"{"keys":[{"kty":"RSA","kid":"a"}]}"#, "None of its 1 keys"),
            (#"{"keys":[{"kty":"EC","crv":"P-256","x":"AA","y":"AA","kid":"a"}]}"#, "None of"),
            (#"{"keys":[{"kty":"oct","k":"AAAA","kid":"a","alg":"HS256"}]}"#, "that has a kid"),
            (#"{"keys":[\#(String(repeating: "{},", count: 64)){}]}"#, "more than 64 keys"),
            (String(repeating: " ", count: KeySet.sizeLimit + 1), "more than 256 KiB"),
        ]
    )
    func noSet(text: String, reason: String) async {
        let error = await #expect(throws: KeySet.Unusable.self) {
            try await KeySet(Array(text.utf8))
        }
        #expect("\(error as Any)".contains(reason))
    }

    @Test("Requests for many unknown keys cause one fetch in a minute")
    func flood() async throws {
        let fetches = Atomic(0)
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let ring = KeyRing(clock: { [clock] in clock.now }, logger: quiet) {
            fetches.add(1, ordering: .relaxed)
            for await _ in gate { break }
            throw KeySet.Unusable("away")
        }
        await withTaskGroup(of: VerificationKey?.self) { group in
            for number in 0..<500 { group.addTask { await ring.key(id: "k\(number)") } }
            open.yield()
            for await key in group { #expect(key == nil) }
        }
        #expect(fetches.load(ordering: .relaxed) == 1)
        clock.advance(.seconds(59))
        #expect(await ring.key(id: "again") == nil)
        #expect(fetches.load(ordering: .relaxed) == 1)
    }

    @Test("Keys are loaded only over https, over http from this machine, or from a file")
    func sources() {
        #expect(KeySource("https://id.example/jwks.json") != nil)
        #expect(KeySource("http://127.0.0.1:1/jwks.json") != nil)
        #expect(KeySource("/etc/keys.json") == .file("/etc/keys.json"))
        for text in [
            "", "http://id.example/jwks.json", "http://127.0.0.1.example/", "ftp://id.example/",
            "https://", "https://a@b/", "http://localhost.example/x",
        ] {
            #expect(KeySource(text) == nil, "\(text)")
        }
    }
}
