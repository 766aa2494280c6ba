/// An ISO 4217 currency that gotchu can hold, written in lower case as on the wire.
package enum Currency: String, CaseIterable, Codable, Hashable, Sendable {
    case usd, eur, gbp, chf, sek, cad, aud, jpy

    /// The number of decimal digits of the minor unit (ISO 4217 "exponent").
    package var minorUnitDigits: Int {
        switch self {
        case .usd, .eur, .gbp, .chf, .sek, .cad, .aud: 2
        case .jpy: 0
        }
    }

    /// The sign written before an amount. If no sign is unambiguous, it is the upper-case code and
    /// a space.
    package var symbol: String {
        switch self {
        case .usd: "$"
        case .eur: "€"
        case .gbp: "£"
        case .jpy: "¥"
        case .chf, .sek, .cad, .aud: rawValue.uppercased() + " "
        }
    }
}
