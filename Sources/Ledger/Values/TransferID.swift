/// A transfer's name.
package struct TransferID: LedgerID {
    package let rawValue: String

    package init(trusted rawValue: String) {
        self.rawValue = rawValue
    }
}
