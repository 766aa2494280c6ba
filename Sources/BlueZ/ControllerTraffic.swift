import CBluetooth
import Glibc

/// Counts of what the kernel and a controller have said to one another since the controller was
/// there.
///
/// The kernel tells them without any privilege. A controller answers each command
/// with at least one event, so that these two numbers alone tell whether it still does: bluetoothd
/// says nothing of it, and goes on to tell that it scans.
package struct ControllerTraffic: Equatable, Sendable {
    /// Commands to the controller. It wraps.
    package var commands: UInt32
    /// Events from it, reports of advertisements among them. It wraps.
    package var events: UInt32

    package init(commands: UInt32, events: UInt32) {
        self.commands = commands
        self.events = events
    }

    /// The counts of an adapter, by the kernel's number for it.
    ///
    /// - Throws: the errno; `ENODEV` where there is no such adapter, `EAFNOSUPPORT` where the
    ///   kernel has no Bluetooth or the unit does not let us ask.
    package static func read(_ index: UInt16) throws(KernelAdapter.Errno) -> ControllerTraffic {
        var info = hci_dev_info()
        guard hci_devinfo(CInt(index), &info) == 0 else { throw KernelAdapter.Errno(number: errno) }
        return ControllerTraffic(commands: info.stat.cmd_tx, events: info.stat.evt_rx)
    }
}
