import FoundationEssentials

/// One of the kernel's rfkill switches of a Bluetooth radio. Reading needs no privilege.
struct RadioSwitch: Equatable {
    /// The name of the device that the switch controls, such as `hci0`.
    let name: String
    /// A Boolean that is true if a program has turned the device off.
    let isSoftBlocked: Bool
    /// A Boolean that is true if a key or the firmware has turned the device off.
    let isHardBlocked: Bool

    var isBlocked: Bool { isSoftBlocked || isHardBlocked }

    /// Returns the Bluetooth switches, by name.
    static func all(in folder: String = "/sys/class/rfkill") -> [RadioSwitch] {
        let entries = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return entries.compactMap { entry in
            func read(_ file: String) -> String? {
                FileManager.default.contents(atPath: "\(folder)/\(entry)/\(file)")
                    .map { String(decoding: $0, as: UTF8.self).filter { !$0.isNewline } }
            }
            guard read("type") == "bluetooth" else { return nil }
            return RadioSwitch(
                name: read("name") ?? entry,
                isSoftBlocked: read("soft") == "1",
                isHardBlocked: read("hard") == "1"
            )
        }.sorted { $0.name < $1.name }
    }

    var finding: Finding {
        let layer = "rfkill"
        return if isHardBlocked {
            Finding.bad(
                layer,
                "\(name) is switched off by a key or by the firmware.",
                fix: "Switch Bluetooth on with the machine's own key, or in its firmware's set-up."
            )
        } else if isSoftBlocked {
            Finding.bad(layer, "\(name) is blocked.", fix: "sudo rfkill unblock bluetooth")
        } else {
            Finding.good(layer, "\(name) is not blocked")
        }
    }
}
