import DBus
import GotchuCore

/// Which EIDs stand behind devices, for a monitor that names devices and nothing else.
///
/// Without discovery bluetoothd tells a level only when it has changed by 8 dB (RSSI_THRESHOLD in
/// BlueZ's src/device.c): what it told last is no measurement of the advertisement that has
/// matched now. So a sighting by this way has no level. It keeps a presence there, and nobody near.
struct MonitorEar: Sendable {
    /// Devices remembered; beyond, the one heard longest ago makes room.
    static let limit = 64
    /// bluetoothd tells of one advertisement twice, as a property and as a match.
    static let echo: Duration = .milliseconds(50)

    private var heard: [ObjectPath: Sighting] = [:]

    var isEmpty: Bool { heard.isEmpty }

    /// bluetoothd has told what a device says.
    mutating func heard(_ sighting: Sighting, from device: ObjectPath) {
        if heard[device] == nil, heard.count >= Self.limit,
            let oldest = heard.min(by: { $0.value.time < $1.value.time })
        {
            heard[oldest.key] = nil
        }
        heard[device] = sighting
    }

    /// The monitor has matched a device.
    ///
    /// - Returns: `nil` for one that says nothing of ours, and for what was told a moment ago.
    mutating func found(_ device: ObjectPath, now: MonotonicTime) -> Sighting? {
        guard let last = heard[device], now - last.time >= Self.echo else { return nil }
        let sighting = Sighting(
            time: now,
            eid: last.eid,
            carrier: last.carrier,
            rssi: nil,
            adapter: last.adapter
        )
        heard[device] = sighting
        return sighting
    }

    mutating func forget() {
        heard = [:]
    }
}
