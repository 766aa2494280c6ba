import BlueZ
import Glibc

/// The adapters that the kernel has, whether bluetoothd runs or not. Needs no privilege.
struct KernelCheck {
    /// What the kernel said when it was asked for its adapters.
    let answer: Result<[KernelAdapter], KernelAdapter.Errno>

    private static let layer = "kernel"

    static func run() -> KernelCheck {
        KernelCheck(answer: Result(catching: KernelAdapter.all))
    }

    /// Whether bluetoothd cannot have one either.
    var hasNone: Bool {
        switch answer {
        case .success(let adapters): adapters.isEmpty
        case .failure(let error): error.number == EAFNOSUPPORT
        }
    }

    var findings: [Finding] {
        switch answer {
        case .success(let adapters) where adapters.isEmpty:
            [
                Finding(
                    Self.layer,
                    .bad,
                    "The kernel has no Bluetooth adapter.",
                    fix: "lsusb; rfkill list; sudo dmesg | grep -i bluetooth"
                )
            ]
        case .success(let adapters): adapters.map(Self.finding)
        case .failure(let error) where error.number == EAFNOSUPPORT:
            // Without the module, and in every network namespace but the first.
            [
                Finding(
                    Self.layer,
                    .bad,
                    "The kernel has no Bluetooth here; in a container it never has.",
                    fix: "sudo modprobe bluetooth"
                )
            ]
        case .failure(let error):
            [
                Finding(
                    Self.layer,
                    .doubtful,
                    "The kernel does not say: \(String(cString: strerror(error.number))).",
                    fix: "ls /sys/class/bluetooth"
                )
            ]
        }
    }

    /// One that is down is doubtful only: it is in order while bluetoothd is not running, and
    /// another may be up.
    private static func finding(_ adapter: KernelAdapter) -> Finding {
        adapter.isUp
            ? Finding(layer, .good, "\(adapter.name) is up · \(adapter.address)")
            : Finding(
                layer,
                .doubtful,
                "\(adapter.name) is down: it is blocked, or bluetoothd has not switched it on.",
                fix: "sudo rfkill unblock bluetooth"
            )
    }
}
