import DBus

/// BlueZ's names on the bus (doc/org.bluez.*.rst).
package enum BlueZ {
    package static let busName = "org.bluez"
    package static let adapterInterface = "org.bluez.Adapter1"
    package static let deviceInterface = "org.bluez.Device1"
    package static let advertisingManagerInterface = "org.bluez.LEAdvertisingManager1"
    package static let advertisementInterface = "org.bluez.LEAdvertisement1"
    static let objectManagerInterface = "org.freedesktop.DBus.ObjectManager"
    static let propertiesInterface = "org.freedesktop.DBus.Properties"

    /// How long bluetoothd may take to answer. A registration waits for the controller and for two
    /// calls back to us; anything longer means that it hangs.
    package static let callTimeout: Duration = .seconds(10)

    static func call(
        _ connection: Connection,
        _ path: ObjectPath,
        _ interface: String,
        _ member: String,
        _ arguments: [Value] = []
    ) async throws(BlueZError) {
        do {
            _ = try await connection.call(
                MethodCall(
                    to: busName,
                    path: path,
                    interface: interface,
                    member: member,
                    arguments: arguments
                ),
                timeout: callTimeout
            )
        } catch {
            throw BlueZError(error)
        }
    }
}
