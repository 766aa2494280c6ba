internal import HTTPTypes
internal import Hummingbird

/// The cookies of the pages.
///
/// The prefix `__Host-` makes browsers keep a cookie for this host only, and only over TLS (RFC
/// 6265bis, 4.1.3.2). Other hosts of the domain cannot set it. A development server has no TLS and
/// uses no prefix.
struct WebCookies: Sendable {
    enum Name: String {
        case session = "gotchu"
        /// A login in progress.
        case login = "gotchu-login"
        /// The notice that the next page shows.
        case notice = "gotchu-notice"
    }

    let isDevelopment: Bool

    private func text(_ name: Name) -> String {
        isDevelopment ? name.rawValue : "__Host-\(name.rawValue)"
    }

    /// Returns the value of a request's cookie; `nil` if there is none, or several with its name.
    func value(_ name: Name, of request: Request) -> String? {
        let pairs = request.headers[values: .cookie].flatMap { $0.split(separator: ";") }
        let prefix = "\(text(name))="
        let values = pairs.map { $0.drop { $0 == " " } }.filter { $0.hasPrefix(prefix) }
        guard values.count == 1, let value = values.first else { return nil }
        return String(value.dropFirst(prefix.count))
    }

    /// Returns the header value that sets or removes a cookie.
    ///
    /// - Parameters:
    ///   - value: Text that needs no quoting in a cookie, such as Base64; `nil` removes the cookie.
    ///   - seconds: The lifetime; `nil` keeps it until the browser is closed.
    func setting(_ name: Name, to value: String?, seconds: Int? = nil) -> String {
        let age = (value == nil ? 0 : seconds).map { "; Max-Age=\($0)" } ?? ""
        let secure = isDevelopment ? "" : "; Secure"
        // Browsers would not send a Strict cookie on the return from the login provider.
        return "\(text(name))=\(value ?? "")\(age); Path=/\(secure); HttpOnly; SameSite=Lax"
    }
}
