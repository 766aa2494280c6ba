import GotchuAPI
import HTTPTypes
import Testing

@testable import Screens

@Suite("The same-origin check of a screen")
struct SameOriginCheckTests {
    private static let host = "127.0.0.1:7465"
    private let gate = SameOriginCheck(port: 7465)

    private func code(
        _ method: HTTPRequest.Method,
        host: String? = host,
        _ fields: [(String, String)] = []
    ) -> ErrorCode? {
        var request = HTTPRequest(method: method, scheme: nil, authority: host, path: "/display")
        for (name, value) in fields {
            guard let name = HTTPField.Name(name) else { continue }
            request.headerFields.append(HTTPField(name: name, value: value))
        }
        do throws(Problem) {
            try gate.admit(request)
            return nil
        } catch {
            return error.errorCode
        }
    }

    @Test("A request that a person or the screen's own page makes is admitted")
    func own() {
        let origin = ("Origin", "http://\(Self.host)")
        #expect(code(.get) == nil)
        #expect(code(.get, [("Sec-Fetch-Site", "none")]) == nil)
        #expect(code(.head, [("Sec-Fetch-Site", "same-origin"), origin]) == nil)
        #expect(code(.post, [origin, ("Content-Type", "application/json")]) == nil)
        #expect(
            code(.delete, [origin, ("Content-Type", "Application/JSON; charset=utf-8")]) == nil
        )
    }

    @Test(
        "A request whose host is not exactly the screen's address is refused",
        arguments: [
            "localhost:7465", "127.0.0.1", "127.0.0.1:7466", "127.0.0.1:07465", "127.1:7465",
            "shop.example:7465", "127.0.0.1.example:7465", "[::1]:7465", "127.0.0.1:7465.",
            "user@127.0.0.1:7465", "", nil,
        ]
    )
    func hosts(host: String?) {
        #expect(code(.get, host: host) == .browserRefused)
    }

    @Test("A request with a second Host field is refused")
    func twoHosts() {
        #expect(code(.get, [("Host", Self.host)]) == .validationError)
    }

    @Test("The authority of a screen on port 80 has no port")
    func schemePort() {
        #expect(SameOriginCheck(port: 80).authority == "127.0.0.1")
    }

    @Test(
        "A request from another page is refused with every method",
        arguments: [
            ("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Site", "same-site"),
            ("Sec-Fetch-Site", ""), ("Origin", "null"), ("Origin", "http://127.0.0.1:7466"),
            ("Origin", "https://127.0.0.1:7465"), ("Origin", "http://shop.example"), ("Origin", ""),
        ]
    )
    func foreign(field: (String, String)) {
        for method in [HTTPRequest.Method.get, .head, .post, .put, .delete, .options] {
            #expect(code(method, [field]) == .browserRefused, "\(method)")
        }
    }

    @Test("A POST request without exactly one Origin field is refused")
    func originRequired() {
        let type = ("Content-Type", "application/json")
        let origin = ("Origin", "http://\(Self.host)")
        #expect(code(.post, [type]) == .browserRefused)
        #expect(code(.post, [type, origin, origin]) == .browserRefused)
    }

    @Test(
        "A POST request with a content type other than JSON is refused",
        arguments: [
            nil, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; b=1",
            "application/json-patch+json", "text/plain; application/json",
        ]
    )
    func contentTypes(type: String?) {
        let origin = ("Origin", "http://\(Self.host)")
        let fields = [origin] + (type.map { [("Content-Type", $0)] } ?? [])
        #expect(code(.post, fields) == .unsupportedMediaType)
    }

    @Test("A GET request with a body is refused")
    func bodies() {
        #expect(code(.get, [("Content-Length", "5")]) == .validationError)
        #expect(code(.get, [("Transfer-Encoding", "chunked")]) == .validationError)
        #expect(code(.get, [("Content-Length", "0")]) == nil)
    }
}
