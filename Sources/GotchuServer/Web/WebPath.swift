internal import Devices
internal import GotchuCore

/// The addresses of the pages.
enum WebPath {
    static let login = "/web/login"
    static let developmentLogin = "/web/login/dev"
    static let providerLogin = "/web/login/begin"
    static let callback = "/web/login/callback"
    static let logout = "/web/logout"
    /// The address that redirects to the first page that the login allows.
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
    /// The pages to which the payment provider returns.
    static let deposited = "/payments/done"
    static let depositCancelled = "/payments/cancelled"
    static let connected = "/connect/return"
    static let connectRefresh = "/connect/refresh"
    static let connect = "/connect/start"
    static let contests = "/contests"
    static let ownContests = "/web/contests"
    /// The page that takes the digits of an EID.
    static let enterEID = "/p"
    private static let resultSuffix = "/result"

    static func payment(_ id: SessionID) -> String { "\(payments)/\(id.rawValue)" }

    static func revocation(of id: DeviceID) -> String { "\(devices)/\(id.rawValue)/revoke" }

    /// Returns the path of a request's page for payers.
    static func request(_ eid: EID) -> String { "\(enterEID)/\(eid)" }

    /// Returns the path of a payment's result.
    static func result(of form: PaymentForm, _ eid: EID) -> String {
        let key = escaped(form.key.rawValue)
        let tip = form.tip > 0 ? "&tip=\(form.tip)" : ""
        let query = "sid=\(form.session)&key=\(key)&amount=\(form.amount.minorUnits)\(tip)"
        return "\(request(eid))\(resultSuffix)?\(query)"
    }

    /// Returns the path of the wallet in a currency.
    static func wallet(in currency: Currency) -> String {
        currency == .usd ? wallet : "\(wallet)?currency=\(currency.rawValue)"
    }

    /// Returns the path of the login that leads to a page of ours afterwards.
    static func login(returningTo target: String) -> String {
        "\(login)?to=\(escaped(target))"
    }

    /// Returns the scopes that a login for a page requests: a person who only pays gets no others.
    static func scopes(for target: String) -> [Scope] {
        let path = path(of: target)
        if isPayment(path) || isContest(path) { return [.payer] }
        // Payouts need a login of their own: a stolen session could otherwise set a bank account.
        return isPayout(path) ? [.payee, .payer, .payouts] : [.payee, .payer]
    }

    /// Returns a page of ours from untrusted text of an address or form; the start page for
    /// anything else. `//host` and `/\host` are other sites.
    static func page(_ text: String?) -> String {
        guard let text, text.utf8.count <= 1_024, isPage(path(of: text)),
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\\") }),
            !text.hasPrefix(login), !text.hasPrefix(logout)
        else { return start }
        return text
    }

    private static func path(of target: String) -> String { String(target.prefix { $0 != "?" }) }

    /// Returns the page that links to an address: the payer's request, the contest, or the start.
    static func parentPath(of path: String) -> String {
        if isContest(path) {
            return path.split(separator: "/").prefix(2).map { "/\($0)" }.joined()
        }
        guard isPayment(path) else { return start }
        return path.hasSuffix(resultSuffix) ? String(path.dropLast(resultSuffix.count)) : path
    }

    /// Returns true for the page of a payment's result.
    static func isResult(_ path: String) -> Bool { isPayment(path) && path.hasSuffix(resultSuffix) }

    /// Returns true for an address of the payer's pages; the QR code's is upper case.
    static func isPayment(_ path: String) -> Bool {
        path == enterEID || path.hasPrefix("/p/") || path.hasPrefix("/P/")
    }

    /// Returns true for an address of the contests' pages.
    static func isContest(_ path: String) -> Bool {
        path == contests || path.hasPrefix("\(contests)/") && !path.hasSuffix(".yaml")
    }

    /// Returns true for a page of payers, which is in their language.
    static func isPayerPage(_ path: String) -> Bool {
        isPayment(path) || isContest(path) || path.hasPrefix(wallet) || path.hasPrefix(login)
            || [deposited, depositCancelled].contains(path)
    }

    private static func isPayout(_ path: String) -> Bool {
        path == payouts || path.hasPrefix("\(payouts)/") || path.hasPrefix("/connect/")
    }

    /// Returns true for an address of the pages; its problems are shown as pages, too.
    static func isPage(_ path: String) -> Bool {
        path == start || path.hasPrefix("/web/") || isPayment(path) || path == "/"
            || isContest(path) || isPayout(path) || [deposited, depositCancelled].contains(path)
    }

    /// Escapes a text for a query (RFC 3986, 2.3).
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "/"):
                escaped.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                escaped += byte < 16 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return escaped
    }
}
