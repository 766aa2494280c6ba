import DBus

/// BlueZ's names on the bus (doc/org.bluez.*.rst), and the number of late replies.
package enum BlueZ {
    package static let busName = "org.bluez"
    package static let adapterInterface = "org.bluez.Adapter1"
    static let deviceInterface = "org.bluez.Device1"
    package static let advertisingManagerInterface = "org.bluez.LEAdvertisingManager1"
    static let advertisementInterface = "org.bluez.LEAdvertisement1"
    static let objectManagerInterface = "org.freedesktop.DBus.ObjectManager"
    static let propertiesInterface = "org.freedesktop.DBus.Properties"

    /// The number of replies that arrived after their call had ended, since the process started.
    package static var lateReplies: Int { BusLosses.ofThisProcess.lateReplies }
}
