import BlueZ
import DBus
import Testing

@Suite struct VersionTests {
    @Test(
        "BlueZ's version is read from the adapter's modalias",
        arguments: [
            ("usb:v1D6Bp0246d0542", BlueZVersion(5, 66)), ("usb:v1D6Bp0246d0557", .init(5, 87)),
            ("usb:v1D6Bp0246d0600", .init(6, 0)), ("usb:v1D6Bp0246d054", nil),
            ("usb:v1D6Bp0246d05+2", nil), ("usb:v05ACp0246d0542", nil), ("", nil),
        ] as [(String, BlueZVersion?)]
    )
    func modalias(_ text: String, _ version: BlueZVersion?) {
        #expect(BlueZVersion(modalias: text) == version)
    }

    @Test("The UUID filter is not used with BlueZ 5.87 or an unknown version")
    func uuidFilter() {
        #expect(quirks(5, 66).canFilterByUUID && quirks(5, 86).canFilterByUUID)
        #expect(!quirks(5, 87).canFilterByUUID && quirks(5, 88).canFilterByUUID)
        #expect(!BlueZQuirks(version: nil).canFilterByUUID)
    }

    @Test("Before BlueZ 5.73, an advertisement must not be unregistered during its registration")
    func unregistering() {
        #expect(!quirks(5, 72).canUnregisterWhileRegistering)
        #expect(quirks(5, 73).canUnregisterWhileRegistering)
        #expect(!BlueZQuirks(version: nil).canUnregisterWhileRegistering)
    }

    @Test("Advertising intervals are used from BlueZ 5.77 on")
    func intervals() {
        #expect(!quirks(5, 76).honoursIntervals && quirks(5, 77).honoursIntervals)
        #expect(!BlueZQuirks(version: nil).honoursIntervals)
    }

    @Test(
        "The errors of bluetoothd are recognised by name",
        arguments: [
            ("org.bluez.Error.AlreadyExists", BlueZError.alreadyExists),
            ("org.bluez.Error.DoesNotExist", .doesNotExist),
            ("org.bluez.Error.Failed", .failed("why")),
            ("org.bluez.Error.InProgress", .inProgress),
            ("org.bluez.Error.InvalidArguments", .invalidArguments),
            ("org.bluez.Error.InvalidLength", .invalidLength),
            ("org.bluez.Error.NotAuthorized", .notAuthorized),
            ("org.bluez.Error.NotPermitted", .notPermitted),
            ("org.bluez.Error.NotReady", .notReady),
            ("org.bluez.Error.NotSupported", .notSupported),
            ("org.freedesktop.DBus.Error.AccessDenied", .accessDenied),
            ("org.freedesktop.DBus.Error.NoReply", .timedOut),
            ("org.freedesktop.DBus.Error.UnknownObject", .gone),
            ("a.b.New", .other(DBusError(.remote, name: "a.b.New", underlying: "why"))),
        ]
    )
    func errors(_ name: String, _ error: BlueZError) {
        #expect(BlueZError(DBusError(.remote, name: name, underlying: "why")) == error)
    }

    private func quirks(_ major: Int, _ minor: Int) -> BlueZQuirks {
        BlueZQuirks(version: BlueZVersion(major, minor))
    }
}
