package import GotchuCore

/// `GET /v1/status`.
package struct StatusReply: Codable, Equatable, Sendable {
    /// True if no health item is an error: requests and payments can be made.
    package var isReady: Bool
    /// One sentence for a person: `Ready · adapter hci0 · server http://… reachable (42 ms)`.
    package var summary: String
    package var version: String
    package var radio: RadioStatus
    package var server: ServerStatus
    /// The current problems.
    package var health: [HealthItem]

    package init(
        isReady: Bool,
        summary: String,
        version: String,
        radio: RadioStatus,
        server: ServerStatus,
        health: [HealthItem]
    ) {
        self.isReady = isReady
        self.summary = summary
        self.version = version
        self.radio = radio
        self.server = server
        self.health = health
    }

    enum CodingKeys: String, CodingKey {
        case isReady = "is_ready"
        case summary, version, radio, server, health
    }
}

/// The radio's part of the status.
package struct RadioStatus: Codable, Equatable, Sendable {
    /// `bluez`, `simulated` or `replay`.
    package var kind: String
    package var adapter: String?
    package var address: String?
    package var bluezVersion: String?
    package var isScanning: Bool
    package var listening: ListeningStatus
    /// The source of sightings, if there is a choice: `management` or `dbus`.
    package var transport: String?
    /// The reason why the preferred source is not used, in one sentence.
    package var transportNote: String?
    package var advertising: [EID]
    /// The number of EIDs that can be on the air at once, if the adapter reports it.
    package var advertisingCapacity: Int?
    /// The number of advertisements since the start that were not ours, by reason.
    package var ignored: [String: Int]
    /// The log odds in nats at which a zone is entered: the setting `proximity.certainty`. Like
    /// the calibration, only in the answer to `GET /v1/status`.
    package var certainty: Double?
    /// The thresholds for verdicts, if the adapter is calibrated.
    package var calibration: CalibrationView?

    package init(
        kind: String,
        adapter: String?,
        address: String?,
        bluezVersion: String?,
        isScanning: Bool,
        listening: ListeningStatus,
        transport: String? = nil,
        transportNote: String? = nil,
        advertising: [EID],
        advertisingCapacity: Int? = nil,
        ignored: [String: Int]
    ) {
        self.kind = kind
        self.adapter = adapter
        self.address = address
        self.bluezVersion = bluezVersion
        self.isScanning = isScanning
        self.listening = listening
        self.transport = transport
        self.transportNote = transportNote
        self.advertising = advertising
        self.advertisingCapacity = advertisingCapacity
        self.ignored = ignored
    }

    enum CodingKeys: String, CodingKey {
        case kind, adapter, address, listening, transport, advertising, ignored, calibration
        case certainty
        case advertisingCapacity = "advertising_capacity"
        case transportNote = "transport_note"
        case bluezVersion = "bluez_version"
        case isScanning = "is_scanning"
    }
}

/// The decision about listening, and its reason.
package struct ListeningStatus: Codable, Equatable, Sendable {
    /// The setting `listen`: `auto`, `always` or `never`.
    package var setting: ListenSetting
    /// True if the radio should listen. `is_scanning` is true if the radio does listen.
    package var isWanted: Bool
    /// One sentence for a person.
    package var reason: String

    package init(setting: ListenSetting, isWanted: Bool) {
        self.setting = setting
        self.isWanted = isWanted
        reason =
            switch setting {
            case .always: "The setting 'listen' is 'always'."
            case .never: "The setting 'listen' is 'never'."
            case .auto:
                isWanted
                    ? "A program asks which sessions are near, or did so lately."
                    : "No program asks which sessions are near."
            }
    }

    enum CodingKeys: String, CodingKey {
        case setting, reason
        case isWanted = "is_wanted"
    }
}

/// The setting that controls the times at which the radio listens.
package enum ListenSetting: String, CaseIterable, Codable, Sendable {
    /// Listens while a program needs presences, and for a short time after.
    case auto
    case always
    case never
}

/// The payment server's part of the status.
package struct ServerStatus: Codable, Equatable, Sendable {
    package var url: String
    /// A Boolean that is true if it is reachable; `nil` before the first call.
    package var isReachable: Bool?
    package var latencyMilliseconds: Int?
    package var isLoggedIn: Bool

    package init(
        url: String,
        isReachable: Bool?,
        latencyMilliseconds: Int?,
        isLoggedIn: Bool
    ) {
        self.url = url
        self.isReachable = isReachable
        self.latencyMilliseconds = latencyMilliseconds
        self.isLoggedIn = isLoggedIn
    }

    enum CodingKeys: String, CodingKey {
        case url
        case isReachable = "is_reachable"
        case latencyMilliseconds = "latency_ms"
        case isLoggedIn = "is_logged_in"
    }
}

/// A problem of the daemon, with a stable code and a fix.
package struct HealthItem: Codable, Equatable, Sendable {
    /// The stable code in lower-kebab, such as `bluetooth-adapter-off` or `not-logged-in`.
    package var code: String
    package var severity: Severity
    /// One sentence.
    package var text: String
    /// The command or action that helps.
    package var fix: String

    package init(code: String, severity: Severity, text: String, fix: String) {
        self.code = code
        self.severity = severity
        self.text = text
        self.fix = fix
    }

    package enum Severity: String, Codable, Sendable {
        /// The daemon cannot work.
        case error
        /// The daemon works, but a person should look at the problem.
        case warning
    }
}
