/// The first line of a recording: its format and its source.
package struct RecordingHeader: Codable, Equatable, Sendable {
    /// The format that this version writes and reads.
    package static let currentFormat = 1

    /// The format's number.
    package var format: Int
    /// gotchud's version.
    package var version: String
    /// The radio, such as `bluez`, and its adapter, such as `hci0`.
    package var radio: String
    package var adapter: String?
    /// The transport of the sightings, `management` or `dbus`.
    package var transport: String?
    package var bluezVersion: String?
    package var startedAt: Timestamp
    /// The shop's thresholds for verdicts, in dBm, and its certainty.
    package var policy: Levels
    /// The note of the person who recorded, such as the distance.
    package var note: String?

    package struct Levels: Codable, Equatable, Sendable {
        package var tapEnter: Double
        package var tapLeave: Double
        package var nearEnter: Double
        package var nearLeave: Double
        /// `ProximityPolicy.certainty`, in nats; `nil` in recordings of versions without it.
        package var certainty: Double?

        package init(_ policy: ProximityPolicy) {
            tapEnter = policy.tap.enter
            tapLeave = policy.tap.leave
            nearEnter = policy.near.enter
            nearLeave = policy.near.leave
            certainty = policy.certainty
        }

        enum CodingKeys: String, CodingKey {
            case tapEnter = "tap_enter"
            case tapLeave = "tap_leave"
            case nearEnter = "near_enter"
            case nearLeave = "near_leave"
            case certainty
        }
    }

    package init(
        version: String,
        radio: String,
        adapter: String?,
        transport: String?,
        bluezVersion: String?,
        startedAt: Timestamp,
        policy: ProximityPolicy,
        note: String? = nil
    ) {
        format = Self.currentFormat
        self.version = version
        self.radio = radio
        self.adapter = adapter
        self.transport = transport
        self.bluezVersion = bluezVersion
        self.startedAt = startedAt
        self.policy = Levels(policy)
        self.note = note
    }

    enum CodingKeys: String, CodingKey {
        case format = "gotchu_recording"
        case version, radio, adapter, transport, policy, note
        case bluezVersion = "bluez_version"
        case startedAt = "started_at"
    }
}
