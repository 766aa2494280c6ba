/// The security headers of every page.
///
/// A page loads nothing from other origins and cannot be framed. No script can be injected into it
/// (Content Security Policy Level 3; Trusted Types).
package enum PagePolicy: Sendable {
    /// A page whose script fetches data and renders it. It submits no form.
    case screen
    /// A page of forms that works without scripts.
    case web
    /// A page with forms that redirect to other origins. Browsers apply `form-action` to the
    /// redirect after a form, too.
    case formsRedirecting(to: [String])

    /// The names and values of the headers.
    package var headers: [(name: String, value: String)] {
        [
            ("Content-Security-Policy", contentSecurity),
            ("X-Content-Type-Options", "nosniff"),
            ("Cross-Origin-Opener-Policy", "same-origin"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
            // With `no-referrer`, Chromium would send `Origin: null` with a form.
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
            case .formsRedirecting(let origins): (["'self'"] + origins).joined(separator: " ")
            }
        return [
            "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'",
            "connect-src 'self'", "base-uri 'none'", "form-action \(formAction)",
            "frame-ancestors 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'",
        ].joined(separator: "; ")
    }
}
