import DBus

/// BlueZ's names on the bus (doc/org.bluez.*.rst), and the count of late replies there.
package enum BlueZ {
    package static let busName = "org.bluez"
    package static let adapterInterface = "org.bluez.Adapter1"
    static let deviceInterface = "org.bluez.Device1"
    package static let advertisingManagerInterface = "org.bluez.LEAdvertisingManager1"
    static let advertisementInterface = "org.bluez.LEAdvertisement1"
    static let objectManagerInterface = "org.freedesktop.DBus.ObjectManager"
    static let propertiesInterface = "org.freedesktop.DBus.Properties"

    /// The number of replies that came after their call was given up, since the process began.
    package static var lateReplies: Int { BusLosses.ofThisProcess.lateReplies }
}
