/// The name of a registered device.
package struct DeviceID: LedgerID {
    package let rawValue: String

    package init(trusted rawValue: String) {
        self.rawValue = rawValue
    }
}
