import BlueZ
import DBus

/// The adapters in a reply of bluetoothd's object manager.
struct BluetoothAdapters {
    /// The properties of one adapter that matter for payments.
    struct Adapter {
        let name: String
        let isPowered: Bool
        let canAdvertise: Bool
        /// The version of BlueZ, from the adapter's device id (Modalias); `nil` if the id is not
        /// BlueZ's own.
        let version: BlueZVersion?
        /// True if bluetoothd has the interface `AdvertisementMonitorManager1`. In the versions
        /// that matter here, only `--experimental` adds it.
        let isExperimental: Bool

        /// - Parameter main: bluetoothd's configuration.
        func findings(main: MainConfiguration) -> [Finding] {
            [
                isPowered
                    ? Finding.good("adapter", "\(name) is on")
                    : Finding.bad(
                        "adapter",
                        "\(name) is switched off.",
                        fix: "bluetoothctl power on"
                    ),
                canAdvertise
                    ? Finding.good("advertising", "\(name) can advertise")
                    : Finding.bad(
                        "advertising",
                        "\(name) cannot advertise.",
                        fix: "Use an adapter with Bluetooth 4.0 or later."
                    ),
                versionFinding,
                scanFinding,
                intervalFinding(main),
            ]
        }

        private var quirks: BlueZQuirks { BlueZQuirks(version: version) }

        /// The finding on the version. If the version crashes when a program filters by service, it
        /// is doubtful, although gotchud does not filter then.
        private var versionFinding: Finding {
            guard version == nil || quirks.canFilterByUUID else {
                return .doubtful(
                    "bluez",
                    "BlueZ \(versionText) crashes when a program looks for one service only.",
                    fix: "sudo apt-get update && sudo apt-get install --only-upgrade bluez"
                )
            }
            return .good("bluez", "BlueZ \(versionText)")
        }

        private var scanFinding: Finding {
            Finding.good(
                "scan",
                quirks.canFilterByUUID
                    ? "\(name) hears those that list the service among their UUIDs; service data "
                        + "alone is not enough"
                    : "\(name) hears everybody: this bluetoothd is not asked to look for one "
                        + "service only"
            )
        }

        private func intervalFinding(_ main: MainConfiguration) -> Finding {
            let layer = "interval"
            if isExperimental || quirks.honoursIntervals {
                return .good(layer, "\(name) advertises as often as it is asked to")
            }
            if main.isExperimental {
                return .doubtful(
                    layer,
                    "\(MainConfiguration.path) has Experimental = true, and the running "
                        + "bluetoothd does not: it advertises every 1.28 s only.",
                    fix: "sudo systemctl restart bluetooth"
                )
            }
            if let interval = main.minimumIntervalMilliseconds {
                return .doubtful(
                    layer,
                    "\(MainConfiguration.path) asks for \(Int(interval.rounded())) ms, which some "
                        + "versions do not heed.",
                    fix: "See how often another device hears this one: gotchu-ctl scan --explain"
                )
            }
            return .doubtful(
                layer,
                "BlueZ \(versionText) advertises every 1.28 s only, so taps take longer.",
                fix: "Set Experimental = true in [General] of \(MainConfiguration.path), "
                    + "then: sudo systemctl restart bluetooth"
            )
        }

        private var versionText: String { version?.description ?? "of an unknown version" }
    }

    let adapters: [Adapter]

    /// Reads `a{oa{sa{sv}}}`. Values of another type are ignored.
    init(_ reply: [Value]) {
        guard case .dictionary(let objects, key: _, value: _)? = reply.first?.unwrapped else {
            adapters = []
            return
        }
        adapters = objects.compactMap { object in
            let interfaces = object.value
            guard let path = object.key.asObjectPath,
                let properties = interfaces[BlueZ.adapterInterface], properties.hasProperties
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
