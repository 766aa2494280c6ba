internal import HTTPTypes
internal import Hummingbird

/// The cookies of the pages.
///
/// The prefix `__Host-` has browsers keep a cookie for this one host and only over TLS (RFC
/// 6265bis, 4.1.3.2), so that no other host of the domain can plant one. A development server has
/// no TLS.
struct WebCookies: Sendable {
    enum Name: String {
        case session = "gotchu"
        /// A login that is under way.
        case login = "gotchu-login"
        /// The notice that the next page says first.
        case notice = "gotchu-notice"
    }

    let isDevelopment: Bool

    private func text(_ name: Name) -> String {
        isDevelopment ? name.rawValue : "__Host-\(name.rawValue)"
    }

    /// Returns a request's cookie; `nil` also if there are two, of which one is not ours.
    func value(_ name: Name, of request: Request) -> String? {
        let pairs = request.headers[values: .cookie].flatMap { $0.split(separator: ";") }
        let prefix = "\(text(name))="
        let values = pairs.map { $0.drop { $0 == " " } }.filter { $0.hasPrefix(prefix) }
        guard values.count == 1, let value = values.first else { return nil }
        return String(value.dropFirst(prefix.count))
    }

    /// Returns the header's value that sets a cookie, or removes it.
    ///
    /// - Parameters:
    ///   - value: Characters of base64 and names; `nil` removes the cookie.
    ///   - seconds: The time for which it is kept; `nil` until the browser is closed.
    func setting(_ name: Name, to value: String?, seconds: Int? = nil) -> String {
        let age = (value == nil ? 0 : seconds).map { "; Max-Age=\($0)" } ?? ""
        let secure = isDevelopment ? "" : "; Secure"
        // Strict would be lost on the way back from the login's provider.
        return "\(text(name))=\(value ?? "")\(age); Path=/\(secure); HttpOnly; SameSite=Lax"
    }
}
