import Testing

@testable import GotchuServer

@Suite("The cache of verified tokens")
struct VerifiedTokenCacheTests {
    @Test("A token is found only by its exact bytes, and a full cache is emptied before an insert")
    func limit() throws {
        let cache = VerifiedTokenCache()
        let text = #"{"iss":"gotchu","sub":"user","exp":4102444800}"#
        let claims = try #require(TokenClaims(Array(text.utf8)))
        #expect(cache.claims(of: "token") == nil)
        for number in 0..<VerifiedTokenCache.limit { cache.insert("token \(number)", claims) }
        #expect(cache.count == VerifiedTokenCache.limit)
        #expect(cache.claims(of: "token 0") == claims)
        #expect(cache.claims(of: "token") == nil)
        cache.insert("one more", claims)
        #expect(cache.count == 1)
        #expect(cache.claims(of: "one more") == claims)
        #expect(cache.claims(of: "token 0") == nil)
        // The two texts are equal in Unicode, but their bytes differ.
        cache.insert("caf\u{E9}", claims)
        #expect(cache.claims(of: "cafe\u{301}") == nil)
    }
}
