internal import Crypto
internal import GotchuCore
internal import Ledger

extension UserID {
    /// The payee's id that payers see beside the name. It has 64 bits and never changes. The user's
    /// id cannot be computed from it.
    var publicID: String {
        SHA256.hash(data: Array("gotchu-payee.\(rawValue)".utf8)).prefix(8).hex
    }
}
