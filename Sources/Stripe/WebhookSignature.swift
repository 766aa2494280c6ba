import Crypto
import FoundationEssentials
package import GotchuCore

/// The secret with which Stripe signs webhooks to one endpoint. It is never printed.
package struct EndpointSecret: Sendable, CustomStringConvertible {
    /// The HMAC key: the whole text; unlike in Standard Webhooks no part of it is decoded.
    fileprivate var key: SymmetricKey { reveal() }

    /// The key is stored in a closure, which no dump shows.
    private let reveal: @Sendable () -> SymmetricKey

    /// - Returns: `nil` for a text that is not an endpoint's secret.
    package init?(_ text: String) {
        guard text.hasPrefix("whsec_"), (7...255).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        let key = SymmetricKey(data: Data(text.utf8))
        reveal = { key }
    }

    package var description: String { "an endpoint's secret" }
}

/// The header `Stripe-Signature`: `t=1700000000,v1=…[,v1=…]`.
///
/// Source: docs.stripe.com/webhooks/signature. While a secret is rotated there is one `v1` for each
/// secret.
package struct WebhookSignature: Sendable {
    /// The largest accepted clock difference, in either direction. An older request cannot be
    /// replayed.
    static let tolerance: Duration = .seconds(300)
    /// The longest header, in bytes.
    private static let headerLimit = 2_048
    /// The most signatures that are compared.
    private static let countLimit = 16

    private let time: String
    private let seconds: Int64
    private let codes: [[UInt8]]

    /// - Returns: `nil` for a header without exactly one time and at least one signature.
    package init?(_ header: String) {
        guard header.utf8.count <= Self.headerLimit else { return nil }
        var times: [Substring] = []
        var codes: [[UInt8]] = []
        for part in header.split(separator: ",") {
            let pair = part.split(separator: "=", maxSplits: 1)
            guard pair.count == 2 else { return nil }
            switch pair[0].drop(while: { $0 == " " }) {
            case "t": times.append(pair[1])
            case "v1":
                guard let code = Self.bytes(pair[1]) else { continue }
                codes.append(code)
            default: continue  // Other schemes; v0 is for test events.
            }
        }
        guard times.count == 1, let seconds = UInt32(times[0]), times[0].first != "+",
            !codes.isEmpty, codes.count <= Self.countLimit
        else { return nil }
        time = String(times[0])
        self.seconds = Int64(seconds)
        self.codes = codes
    }

    /// The verdict on a request.
    package enum Verdict: Equatable, Sendable {
        case genuine
        /// Not signed with any of the secrets.
        case foreign
        /// Signed by Stripe, but too long ago or in the future.
        case stale
    }

    /// Compares the signatures with those of the unmodified body for each secret.
    package func verdict(
        on body: [UInt8],
        secrets: [EndpointSecret],
        at now: Timestamp
    ) -> Verdict {
        let isSigned = secrets.contains { secret in
            var code = HMAC<SHA256>(key: secret.key)
            code.update(data: Data((time + ".").utf8))
            code.update(data: body)
            let wanted = code.finalize()
            // Compares in constant time.
            return codes.contains { wanted == $0 }
        }
        guard isSigned else { return .foreign }
        let age = now.milliseconds - seconds * 1_000
        return age.magnitude <= Self.tolerance.wholeMilliseconds.magnitude ? .genuine : .stale
    }

    /// Parses 64 hexadecimal digits.
    private static func bytes(_ text: Substring) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count == 64, !digits.contains(UInt8(ascii: "+")) else { return nil }
        var bytes: [UInt8] = []
        for place in stride(from: 0, to: 64, by: 2) {
            let pair = String(decoding: digits[place..<place + 2], as: UTF8.self)
            guard let byte = UInt8(pair, radix: 16) else { return nil }
            bytes.append(byte)
        }
        return bytes
    }
}
