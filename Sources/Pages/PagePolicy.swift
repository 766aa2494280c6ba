/// The headers that every page is sent with.
///
/// Nothing is loaded from another origin, no page may be framed, and no script may be written into
/// a page (Content Security Policy Level 3; Trusted Types).
package enum PagePolicy: Sendable {
    /// A page that draws what it fetches and has no form.
    case screen
    /// A page of forms that works without a script.
    case web
    /// A page of forms that lead to pages of other origins: browsers hold the answer to a form
    /// against `form-action`, too.
    case leading(to: [String])

    /// Names and values.
    package var headers: [(name: String, value: String)] {
        [
            ("Content-Security-Policy", contentSecurity),
            ("X-Content-Type-Options", "nosniff"),
            ("Cross-Origin-Opener-Policy", "same-origin"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
            // With `no-referrer` Chromium sends `Origin: null` with a form.
            ("Referrer-Policy", "same-origin"),
            (
                "Permissions-Policy",
                "camera=(), geolocation=(), microphone=(), payment=(), usb=()"
            ),
            ("Cache-Control", "no-store"),
        ]
    }

    private var contentSecurity: String {
        let formAction =
            switch self {
            case .screen: "'none'"
            case .web: "'self'"
            case .leading(let origins): (["'self'"] + origins).joined(separator: " ")
            }
        return [
            "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'",
            "connect-src 'self'", "base-uri 'none'", "form-action \(formAction)",
            "frame-ancestors 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'",
        ].joined(separator: "; ")
    }
}
