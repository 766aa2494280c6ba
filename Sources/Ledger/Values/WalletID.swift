/// A wallet's name.
package struct WalletID: LedgerID {
    package let rawValue: String

    package init(trusted rawValue: String) {
        self.rawValue = rawValue
    }
}
