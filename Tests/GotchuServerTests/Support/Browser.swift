import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import TestSupport
import Testing

/// A minimal browser: it keeps cookies, sends its origin with forms, and follows no redirects.
final class Browser {
    /// The origin that most servers in tests are configured with.
    static let usualOrigin = "http://127.0.0.1:7777"
    /// The arguments that make a server serve web pages at that origin.
    static let arguments = ["--web", "--public-url", usualOrigin]

    /// The origin that the server is configured with.
    let origin: String
    private let base: String
    var cookies: [String: String] = [:]

    /// Creates a browser for a program, with the program's address as the origin.
    init(_ wire: Wire) {
        origin = wire.base
        base = wire.base
    }

    init(_ server: ServerProcess, origin: String = usualOrigin) {
        self.origin = origin
        base = server.wire.base
    }

    /// Returns a browser that is logged in to a development server.
    ///
    /// - Parameter path: The page to open after the login.
    static func loggedIn(
        _ email: String,
        at server: ServerProcess,
        for path: String = "/web/earnings"
    ) async throws -> Browser {
        let browser = Browser(server)
        let begun = try await browser.send("/web/login/dev", ["email": email, "to": path])
        #expect(begun.status == 303 && begun.location == path, "\(begun.text)")
        return browser
    }

    /// Returns another browser with the same cookies, such as that of a thief.
    func copy(at server: ServerProcess) -> Browser {
        let other = Browser(server, origin: origin)
        other.cookies = cookies
        return other
    }

    private static let client = HTTPClient(
        eventLoopGroupProvider: .singleton,
        configuration: HTTPClient.Configuration(redirectConfiguration: .disallow)
    )

    /// Gets a page, as a click on a link does.
    func open(_ path: String, headers: [String: String] = [:]) async throws -> BrowserPage {
        try await send("GET", path, nil, headers)
    }

    /// Sends a form with the form token of the page that contains the form.
    func send(
        _ path: String,
        _ fields: [String: String],
        from page: BrowserPage? = nil,
        headers: [String: String] = [:]
    ) async throws -> BrowserPage {
        var fields = fields
        if let token = page?.formToken { fields["form_token"] = token }
        let body = fields.sorted { $0.key < $1.key }
            .map { "\(Self.escaped($0.key))=\(Self.escaped($0.value))" }.joined(separator: "&")
        return try await send("POST", path, body, ["Origin": origin].merging(headers) { $1 })
    }

    func send(
        _ method: String,
        _ path: String,
        _ body: String?,
        _ headers: [String: String]
    ) async throws -> BrowserPage {
        var request = HTTPClientRequest(url: base + path)
        request.method = .init(rawValue: method)
        let host = origin.split(separator: "/").last.map(String.init) ?? ""
        request.headers.add(name: "Host", value: host)
        if !cookies.isEmpty {
            let text = cookies.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            request.headers.add(name: "Cookie", value: text.joined(separator: "; "))
        }
        if let body {
            request.headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
            request.body = .bytes(ByteBuffer(string: body))
        }
        for (name, value) in headers { request.headers.replaceOrAdd(name: name, value: value) }
        let response = try await Self.client.execute(request, timeout: .seconds(30))
        let bytes = try await response.body.collect(upTo: 1 << 20)
        for line in response.headers["Set-Cookie"] { storeCookie(line) }
        return BrowserPage(
            status: Int(response.status.code),
            headers: response.headers,
            text: String(buffer: bytes)
        )
    }

    private func storeCookie(_ line: String) {
        let parts = line.split(separator: ";").map { $0.drop { $0 == " " } }
        let pair = parts[0].split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        #expect(parts.contains("HttpOnly") && parts.contains("SameSite=Lax"), "\(line)")
        #expect(parts.contains("Path=/"), "\(line)")
        let isOver = parts.contains("Max-Age=0")
        cookies[String(pair[0])] = isOver ? nil : String(pair[1])
    }

    static func escaped(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }
}

struct BrowserPage {
    let status: Int
    let headers: HTTPHeaders
    let text: String

    func header(_ name: String) -> String? { headers.first(name: name) }

    var location: String? { header("Location") }
    var title: String? { text.firstMatch(of: /<h1>([^<]*)<\/h1>/).map { String($0.output.1) } }
    var formToken: String? { field("form_token") }

    /// Returns the hidden fields, except the form token, of the first form with a field of this
    /// name.
    func fields(beside name: String) throws -> [String: String] {
        let forms = text.split(separator: "<form")
        let form = try #require(forms.first { $0.contains("name=\"\(name)\"") }, "\(text)")
        let inputs = form.matches(of: /<input type="hidden" name="([^"]+)" value="([^"]*)">/)
        let pairs = inputs.map { (String($0.output.1), String($0.output.2)) }
        return Dictionary(uniqueKeysWithValues: pairs.filter { $0.0 != "form_token" })
    }

    /// Returns the value of the first field with this name.
    func field(_ name: String) -> String? {
        let mark = "name=\"\(name)\" value=\""
        guard let start = text.range(of: mark)?.upperBound else { return nil }
        return text[start...].split(separator: "\"", omittingEmptySubsequences: false).first
            .map(String.init)
    }
}
