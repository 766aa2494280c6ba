import Testing

@testable import GotchuServer

@Suite("Tokens that were found good")
struct BelievedTokenTests {
    @Test("are remembered up to a limit, by their bytes, and read anew beyond it")
    func limit() throws {
        let believed = BelievedTokens()
        let text = #"{"iss":"gotchu","sub":"user","exp":4102444800}"#
        let claims = try #require(TokenClaims(Array(text.utf8)))
        #expect(believed.claims(of: "token") == nil)
        for number in 0..<BelievedTokens.limit { believed.believe("token \(number)", claims) }
        #expect(believed.count == BelievedTokens.limit)
        #expect(believed.claims(of: "token 0") == claims)
        #expect(believed.claims(of: "token") == nil)
        believed.believe("one more", claims)
        #expect(believed.count == 1)
        #expect(believed.claims(of: "one more") == claims)
        #expect(believed.claims(of: "token 0") == nil)
        // Equal as Unicode, and still two tokens.
        believed.believe("caf\u{E9}", claims)
        #expect(believed.claims(of: "cafe\u{301}") == nil)
    }
}
