import BlueZ
import Glibc

/// Checks the kernel's adapters, independently of bluetoothd. Needs no privilege.
struct KernelCheck {
    /// The kernel's list of adapters, or the errno of its refusal.
    let answer: Result<[KernelAdapter], KernelAdapter.Errno>
    /// The rfkill switches, which may be the reason why an adapter is down.
    let switches: [RadioSwitch]

    private static let layer = "kernel"

    static func run() -> KernelCheck {
        KernelCheck(answer: Result(catching: KernelAdapter.all), switches: RadioSwitch.all())
    }

    /// A Boolean that is true if the kernel has no adapter. Bluetoothd then has none either.
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
                Finding.bad(
                    Self.layer,
                    "The kernel has no Bluetooth adapter.",
                    fix: "lsusb; rfkill list; sudo dmesg | grep -i bluetooth"
                )
            ]
        case .success(let adapters): adapters.map(finding)
        case .failure(let error) where error.number == EAFNOSUPPORT:
            // The module is missing, or this is not the initial network namespace.
            [
                Finding.bad(
                    Self.layer,
                    "The kernel has no Bluetooth here; in a container it never has.",
                    fix: "sudo modprobe bluetooth"
                )
            ]
        case .failure(let error):
            [
                Finding.doubtful(
                    Self.layer,
                    "The kernel does not say: \(String(cString: strerror(error.number))).",
                    fix: "ls /sys/class/bluetooth"
                )
            ]
        }
    }

    /// Returns the finding on an adapter. An adapter that is down is only doubtful: this is normal
    /// while bluetoothd is not running, and another adapter may be up.
    private func finding(_ adapter: KernelAdapter) -> Finding {
        guard !adapter.isUp else {
            return .good(Self.layer, "\(adapter.name) is up · \(adapter.address)")
        }
        if let block = switches.first(where: { $0.name == adapter.name && $0.isBlocked }) {
            return .doubtful(
                Self.layer,
                "\(adapter.name) is down, as it is blocked.",
                fix: block.finding.fix
            )
        }
        return .doubtful(
            Self.layer,
            "\(adapter.name) is down: bluetoothd has not switched it on.",
            fix: "sudo systemctl start bluetooth && bluetoothctl power on"
        )
    }
}
