internal import Crypto
internal import GotchuCore
internal import Ledger

extension UserID {
    /// The id of a payee that payers see beside the name: 64 bits, always the same, from which the
    /// user's id cannot be computed.
    var publicID: String {
        SHA256.hash(data: Array("gotchu-payee.\(rawValue)".utf8)).prefix(8).hex
    }
}
