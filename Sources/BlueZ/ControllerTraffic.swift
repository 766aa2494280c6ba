import CBluetooth
import Glibc

/// The kernel's counts of the traffic with a controller since the controller appeared.
///
/// The counts can be read without any privilege. A controller answers each command with at least
/// one event: these two counts show whether it still answers. bluetoothd does not report this, and
/// continues to report that it scans.
package struct ControllerTraffic: Equatable, Sendable {
    /// The number of commands to the controller. It wraps.
    package var commands: UInt32
    /// The number of events from it, including advertising reports. It wraps.
    package var events: UInt32

    package init(commands: UInt32, events: UInt32) {
        self.commands = commands
        self.events = events
    }

    /// Reads the counts of an adapter, given its kernel index.
    ///
    /// - Throws: The errno; `ENODEV` if there is no such adapter, `EAFNOSUPPORT` if the kernel has
    ///   no Bluetooth or the unit file does not permit the socket.
    package static func read(_ index: UInt16) throws(KernelAdapter.Errno) -> ControllerTraffic {
        var info = hci_dev_info()
        guard hci_devinfo(CInt(index), &info) == 0 else { throw KernelAdapter.Errno(number: errno) }
        return ControllerTraffic(commands: info.stat.cmd_tx, events: info.stat.evt_rx)
    }
}
