import CBluetooth
import Glibc

/// One Bluetooth adapter as the kernel knows it, with or without bluetoothd, for a search for
/// what is wrong. Needs no privilege.
package struct KernelAdapter: Equatable, Sendable {
    /// `hci0`
    package let name: String
    /// `02:AA:00:00:00:01`
    package let address: String
    /// Powered on.
    package let isUp: Bool
    /// Initialised by its driver.
    let isRunning: Bool

    /// Adapters numbered 0 to 15; as many as the kernel's own list has room for (HCI_MAX_DEV).
    ///
    /// - Throws: the errno; `EAFNOSUPPORT` when the kernel has no Bluetooth at all.
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

    /// The error number that the kernel refused with.
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
