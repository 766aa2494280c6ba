package import DBus

/// An error from bluetoothd (`org.bluez.Error.*`), or another failure of a call to it.
package enum BlueZError: Error, Equatable, Sendable {
    case alreadyExists
    case doesNotExist
    case failed(String?)
    case inProgress
    case invalidArguments
    case invalidLength
    case notAuthorized
    /// For advertisements: there is no room for another.
    case notPermitted
    case notReady
    case notSupported
    /// The bus's policy does not let us talk to bluetoothd.
    case accessDenied
    /// bluetoothd is not running, or the object is gone.
    case gone
    /// No reply within the timeout.
    case timedOut
    /// Anything else.
    case other(DBusError)

    package init(_ error: DBusError) {
        let prefix = "org.bluez.Error."
        guard error.code == .remote, let name = error.name else {
            self = error.code == .timedOut ? .timedOut : .other(error)
            return
        }
        self =
            switch name {
            case prefix + "AlreadyExists": .alreadyExists
            case prefix + "DoesNotExist": .doesNotExist
            case prefix + "Failed": .failed(error.underlying)
            case prefix + "InProgress": .inProgress
            case prefix + "InvalidArguments": .invalidArguments
            case prefix + "InvalidLength": .invalidLength
            case prefix + "NotAuthorized": .notAuthorized
            case prefix + "NotPermitted": .notPermitted
            case prefix + "NotReady": .notReady
            case prefix + "NotSupported": .notSupported
            case "org.freedesktop.DBus.Error.AccessDenied": .accessDenied
            case "org.freedesktop.DBus.Error.NoReply": .timedOut
            case "org.freedesktop.DBus.Error.ServiceUnknown",
                "org.freedesktop.DBus.Error.NameHasNoOwner",
                "org.freedesktop.DBus.Error.UnknownObject",
                "org.freedesktop.DBus.Error.UnknownInterface",
                "org.freedesktop.DBus.Error.UnknownMethod":
                .gone
            default: .other(error)
            }
    }
}
