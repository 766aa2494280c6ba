import CBluetooth
import Glibc

/// A Bluetooth adapter as the kernel reports it, with or without bluetoothd, for diagnostics. Needs
/// no privilege.
package struct KernelAdapter: Equatable, Sendable {
    /// The adapter's name, such as `hci0`.
    package let name: String
    /// The adapter's address, such as `02:AA:00:00:00:01`.
    package let address: String
    /// A Boolean that is true if it is powered on.
    package let isUp: Bool
    /// A Boolean that is true if its driver has initialised it.
    let isRunning: Bool

    /// Returns the adapters numbered 0 to 15, the size of the kernel's own list (HCI_MAX_DEV).
    ///
    /// - Throws: The errno; `EAFNOSUPPORT` if the kernel has no Bluetooth at all.
    package static func all() throws(Errno) -> [KernelAdapter] {
        var adapters: [KernelAdapter] = []
        for index in 0..<Int32(HCI_MAX_DEV) {
            var info = hci_dev_info()
            let status = hci_devinfo(index, &info)
            let number = errno
            if status == 0 {
                adapters.append(KernelAdapter(info))
            } else if number != ENODEV {
                throw Errno(number: number)
            }
        }
        return adapters
    }

    /// The kernel's error number.
    package struct Errno: Error, Equatable, Sendable {
        package let number: Int32
    }
}

extension KernelAdapter {
    private init(_ info: hci_dev_info) {
        name = "hci\(info.dev_id)"
        address = withUnsafeBytes(of: info.bdaddr.b) { bytes in
            bytes.reversed().map { byte in
                (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }.joined(separator: ":")
        }
        isUp = info.flags & (1 << UInt32(HCI_UP)) != 0
        isRunning = info.flags & (1 << UInt32(HCI_RUNNING)) != 0
    }
}
