internal import Devices
internal import GotchuCore

/// The addresses of the pages.
enum WebPath {
    static let login = "/web/login"
    static let developmentLogin = "/web/login/dev"
    static let providerLogin = "/web/login/begin"
    static let callback = "/web/login/callback"
    static let logout = "/web/logout"
    /// The address that redirects to the earnings, or to the wallet if the login has no `payee`.
    static let start = "/web"
    static let earnings = "/web/earnings"
    static let earningsFile = "/web/earnings.csv"
    static let payments = "/web/payments"
    static let devices = "/web/devices"
    static let webhooks = "/web/webhooks"
    static let wallet = "/web/wallet"
    static let deposits = "/web/wallet/deposits"
    static let payouts = "/web/payouts"
    static let withdrawal = "/web/payouts/withdrawal"
    /// The address to which the provider returns after a payment.
    static let deposited = "/payments/done"
    /// The address to which the provider returns if the payer left its page.
    static let depositCancelled = "/payments/cancelled"
    /// The address to which the provider returns after the set-up of payouts.
    static let connected = "/connect/return"
    /// The address to which the provider redirects if a set-up link is used or too old.
    static let connectRefresh = "/connect/refresh"
    /// The page for a payee with an invitation to set up payouts.
    static let connect = "/connect/start"
    static let contests = "/contests"
    static let ownContests = "/web/contests"
    /// The page with the input field for an EID.
    static let enterEID = "/p"
    static let resultSuffix = "/result"

    static func payment(_ id: SessionID) -> String { "\(payments)/\(id.rawValue)" }

    static func revocation(of id: DeviceID) -> String { "\(devices)/\(id.rawValue)/revoke" }

    /// Returns the path of a request's page for payers.
    static func request(_ eid: EID) -> String { "\(enterEID)/\(eid)" }

    static func wallet(in currency: Currency) -> String {
        currency == .usd ? wallet : "\(wallet)?currency=\(currency.rawValue)"
    }

    /// Returns the path of the login that redirects to `target` afterwards.
    static func login(returningTo target: String) -> String {
        "\(login)?to=\(escaped(target))"
    }

    /// Returns the scopes that a login for a page requests. For the pages of payments and contests
    /// it is only `payer`.
    static func scopes(for target: String) -> [Scope] {
        let path = path(of: target)
        if isPayment(path) || isContest(path) { return [.payer] }
        // Only a login for the payout pages has the scope `payouts`. A stolen session of another
        // login cannot change the bank account.
        return isPayout(path) ? [.payee, .payer, .payouts] : [.payee, .payer]
    }

    /// Returns an untrusted address if it is a page of this server; otherwise the start page. The
    /// login and logout pages are excluded. `//host` and `/\host` are other sites.
    static func page(_ text: String?) -> String {
        guard let text, text.utf8.count <= 1_024,
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\\") }),
            isPage(path(of: text)), !text.hasPrefix(login), !text.hasPrefix(logout)
        else { return start }
        return text
    }

    private static func path(of target: String) -> String { String(target.prefix { $0 != "?" }) }

    /// Returns the page to go back to from an address: the payer's request, the contest, or the
    /// start page.
    static func parentPath(of path: String) -> String {
        if isContest(path) {
            return path.split(separator: "/").prefix(2).map { "/\($0)" }.joined()
        }
        guard isPayment(path) else { return start }
        return path.hasSuffix(resultSuffix) ? String(path.dropLast(resultSuffix.count)) : path
    }

    static func isResult(_ path: String) -> Bool { isPayment(path) && path.hasSuffix(resultSuffix) }

    /// Returns true for an address of the pages of a request. The QR code's address is upper case.
    static func isPayment(_ path: String) -> Bool {
        path == enterEID || path.hasPrefix("/p/") || path.hasPrefix("/P/")
    }

    /// Returns true for an address of the contests' pages.
    static func isContest(_ path: String) -> Bool {
        path == contests || path.hasPrefix("\(contests)/") && !path.hasSuffix(".yaml")
    }

    /// Returns true for a page that is in the payer's language.
    static func isPayerPage(_ path: String) -> Bool {
        isPayment(path) || isContest(path) || path.hasPrefix(wallet) || path.hasPrefix(login)
            || [deposited, depositCancelled].contains(path)
    }

    private static func isPayout(_ path: String) -> Bool {
        path == payouts || path.hasPrefix("\(payouts)/") || path.hasPrefix("/connect/")
    }

    /// Returns true for an address of the pages. Problems at such an address are shown as pages.
    static func isPage(_ path: String) -> Bool {
        path == start || path.hasPrefix("/web/") || isPayment(path) || path == "/"
            || isContest(path) || isPayout(path) || [deposited, depositCancelled].contains(path)
    }

    /// Escapes a text for a query (RFC 3986, 2.3). Slashes are not escaped.
    static func escaped(_ text: String) -> String {
        percentEncoded(text).replacing("%2E", with: ".").replacing("%7E", with: "~")
            .replacing("%2F", with: "/")
    }
}
