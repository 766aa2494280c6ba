import CDBus

/// The checks of the D-Bus specification's "Valid Names", done by libdbus.
enum NameValidator {
    /// - Throws: `invalidValue` for the first name that is not valid.
    static func check(bus: String?, interface: String?, member: String?) throws(DBusError) {
        if let bus { try require(bus, dbus_validate_bus_name) }
        if let interface { try require(interface, dbus_validate_interface) }
        if let member { try require(member, dbus_validate_member) }
    }

    static func isError(_ name: String) -> Bool {
        (try? require(name, dbus_validate_error_name)) != nil
    }

    private typealias Validate =
        (UnsafePointer<CChar>?, UnsafeMutablePointer<CDBus.DBusError>?) -> dbus_bool_t

    private static func require(_ name: String, _ validate: Validate) throws(DBusError) {
        guard !name.utf8.contains(0), validate(name, nil) != 0 else {
            throw DBusError(.invalidValue, underlying: "the name '\(name.prefix(64))'")
        }
    }
}
