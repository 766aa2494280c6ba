/// Who holds a wallet. Opaque: an address or a name never enters the books.
package struct UserID: LedgerID {
    package let rawValue: String

    package init(trusted rawValue: String) {
        self.rawValue = rawValue
    }
}
