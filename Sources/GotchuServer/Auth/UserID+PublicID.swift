internal import Crypto
internal import Ledger

extension UserID {
    /// The id of a payee that payers see beside the name: 64 bits, always the same, from which the
    /// user's id cannot be computed.
    var publicID: String {
        let digest = SHA256.hash(data: Array("gotchu-payee.\(rawValue)".utf8))
        return digest.prefix(8).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        .joined()
    }
}
