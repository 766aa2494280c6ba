internal import GotchuAPI
internal import GotchuCore
internal import Hummingbird

/// The parameters of a query. Each is read by name. `end` refuses those that were not read.
struct QueryParameters {
    /// Names of parameters that would select a wallet. They are refused, because only the token
    /// selects the wallet. A caller who requests another user's wallet must not get their own.
    private static let ownerNames: Set = ["user", "user_id", "userid", "wallet", "wallet_id"]

    private var values: [String: String] = [:]

    init(_ values: [String: String]) {
        self.values = values
    }

    /// - Throws: A problem: 403 for a parameter that would select a wallet, 400 for a repeated one.
    init(_ request: Request) throws(Problem) {
        for (name, value) in request.uri.queryParameters {
            let name = String(name)
            if Self.ownerNames.contains(name.lowercased()) {
                throw Problem(.forbidden, detail: "Only the caller's own wallet can be read.")
            }
            try insert(value, name)
        }
    }

    /// Reads the parameters of a page, and ignores others: messengers and advertisers add their own
    /// to links (`fbclid`, `utm_source`), and such a link must open.
    ///
    /// - Throws: A problem: 400 for a repeated parameter of the page.
    init(page request: Request, _ names: String...) throws(Problem) {
        for (name, value) in request.uri.queryParameters {
            let known = names.first { $0.utf8.elementsEqual(name.utf8) }
            if let known { try insert(value, known) }
        }
    }

    private mutating func insert(_ value: Substring, _ name: String) throws(Problem) {
        guard values.updateValue(String(value), forKey: name) == nil else {
            throw .invalid("The parameter \(name.prefix(64)) comes twice.")
        }
    }

    /// Returns the value of a parameter in ASCII; `nil` if it is absent.
    mutating func text(_ name: String) -> String? {
        typed(name)?.maskingNonASCII
    }

    /// Returns what a person has typed, in any script; `nil` if it is absent.
    mutating func typed(_ name: String) -> String? {
        values.removeValue(forKey: name)
    }

    /// Returns an integer from digits without leading zeros; `nil` if it is absent.
    ///
    /// - Throws: A problem: 400 for any other text, and for an integer outside of `range`.
    mutating func integer(
        _ name: String,
        in range: ClosedRange<Int64>
    ) throws(Problem) -> Int64? {
        guard let text = text(name) else { return nil }
        guard text.utf8.first != UInt8(ascii: "0"), text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }),
            let value = Int64(text), range.contains(value)
        else {
            throw .invalid(
                "\(name) must be a whole number from \(range.lowerBound) to \(range.upperBound)."
            )
        }
        return value
    }

    /// Refuses parameters that were not read.
    consuming func end() throws(Problem) {
        guard let name = values.keys.min() else { return }
        throw .invalid("The parameter \(name.prefix(64)) is not known here.")
    }
}
