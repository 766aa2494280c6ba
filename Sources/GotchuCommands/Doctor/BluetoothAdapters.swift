import BlueZ
import DBus

/// The adapters in a reply of bluetoothd's object manager.
struct BluetoothAdapters {
    /// One adapter as far as payments need it.
    struct Adapter {
        let name: String
        let isPowered: Bool
        let canAdvertise: Bool
        /// Of the bluetoothd that has it; `nil` if it hides behind another device id.
        let version: BlueZVersion?
        /// Only an experimental bluetoothd has this interface at the versions that matter here.
        let isExperimental: Bool

        var findings: [Finding] {
            [
                isPowered
                    ? Finding("adapter", .good, "\(name) is on")
                    : Finding(
                        "adapter",
                        .bad,
                        "\(name) is switched off.",
                        fix: "bluetoothctl power on"
                    ),
                canAdvertise
                    ? Finding("advertising", .good, "\(name) can advertise")
                    : Finding(
                        "advertising",
                        .bad,
                        "\(name) cannot advertise.",
                        fix: "Use an adapter with Bluetooth 4.0 or later."
                    ),
                isExperimental || BlueZQuirks(version: version).honoursIntervals
                    ? Finding("bluez", .good, "BlueZ \(versionText)")
                    : Finding(
                        "bluez",
                        .doubtful,
                        "BlueZ \(versionText) advertises every 1.28 s only, so taps take longer.",
                        fix: "Set Experimental = true in [General] of /etc/bluetooth/main.conf, "
                            + "then: sudo systemctl restart bluetooth"
                    ),
            ]
        }

        private var versionText: String { version?.description ?? "of an unknown version" }
    }

    let adapters: [Adapter]

    /// Reads `a{oa{sa{sv}}}`; what has another shape is left out.
    init(_ reply: [Value]) {
        guard case .dictionary(let objects, key: _, value: _)? = reply.first?.unwrapped else {
            adapters = []
            return
        }
        adapters = objects.compactMap { object in
            guard let path = object.key.asObjectPath, let interfaces = object.value.asProperties,
                let properties = interfaces[BlueZ.adapterInterface]?.asProperties
            else { return nil }
            return Adapter(
                name: path.description.split(separator: "/").last.map(String.init) ?? "?",
                isPowered: properties["Powered"]?.asBool ?? false,
                canAdvertise: interfaces[BlueZ.advertisingManagerInterface] != nil,
                version: properties["Modalias"]?.asString.flatMap(BlueZVersion.init(modalias:)),
                isExperimental: interfaces["org.bluez.AdvertisementMonitorManager1"] != nil
            )
        }.sorted { $0.name < $1.name }
    }
}
