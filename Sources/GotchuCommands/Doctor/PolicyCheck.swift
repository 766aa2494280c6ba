import DBus
import Glibc

/// Checks that the bus lets gotchud talk to bluetoothd. Debian's policy allows this for all users.
/// Other distributions do not, so the installation includes a policy.
struct PolicyCheck {
    static let file = "org.gotchu.gotchud.conf"
    static let folders = [
        "/usr/share/dbus-1/system.d", "/etc/dbus-1/system.d", "/usr/local/share/dbus-1/system.d",
    ]

    /// The path of gotchu's policy; `nil` if it is not installed.
    let path: String?

    static var current: PolicyCheck {
        PolicyCheck(path: folders.map { "\($0)/\(file)" }.first { access($0, R_OK) == 0 })
    }

    /// - Parameter error: The error from reading bluetoothd's objects, if there was one.
    func finding(_ error: DBusError?) -> Finding {
        let layer = "policy"
        guard let path else {
            return Finding(
                layer,
                Self.isDenial(error) ? .bad : .doubtful,
                "The bus has no policy for gotchud: there is no \(Self.file) in "
                    + "\(Self.folders[0]).",
                fix: "sudo make install"
            )
        }
        guard Self.isDenial(error) else { return .good(layer, path) }
        return Finding(
            layer,
            geteuid() == 0 ? .bad : .doubtful,
            "The bus does not let user \(geteuid()) talk to bluetoothd.",
            fix: geteuid() == 0 ? "sudo systemctl reload dbus" : "sudo gotchu-ctl doctor"
        )
    }

    static func isDenial(_ error: DBusError?) -> Bool {
        error?.name == "org.freedesktop.DBus.Error.AccessDenied"
    }
}
