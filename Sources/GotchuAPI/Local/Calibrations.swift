package import GotchuCore

/// `PUT /v1/calibration`: the levels measured with one adapter, in dBm.
package struct NewCalibration: Codable, Equatable, Sendable {
    /// The adapter's name, such as `hci0`.
    package var adapter: String
    /// The levels at tap distance, separated by spaces.
    package var tap: String
    /// The levels at one metre, separated by spaces.
    package var metre: String

    /// The maximum number of samples at one distance.
    package static let sampleLimit = 1000
    /// The maximum length of the samples at one distance, in bytes.
    private static let textLimit = 8 * sampleLimit

    package init(adapter: String, tap: [RSSI], metre: [RSSI]) {
        self.adapter = adapter
        self.tap = tap.map { "\($0.dBm)" }.joined(separator: " ")
        self.metre = metre.map { "\($0.dBm)" }.joined(separator: " ")
    }

    /// - Throws: A problem: 400 for an invalid body.
    package init(_ fields: JSONFields) throws(Problem) {
        var fields = fields
        adapter = try fields.string("adapter") ?? ""
        tap = try fields.string("tap", limit: Self.textLimit) ?? ""
        metre = try fields.string("metre", limit: Self.textLimit) ?? ""
        try fields.rejectUnreadMembers()
    }

    /// Parses levels; `nil` if one is invalid or there are too many.
    package static func levels(in text: String) -> [RSSI]? {
        let words = text.split(separator: " ")
        let levels = words.compactMap { Int($0).flatMap { RSSI(dBm: $0) } }
        return levels.count == words.count && levels.count <= sampleLimit ? levels : nil
    }
}

/// The calibration of one adapter, with the resulting thresholds.
package struct CalibrationView: Codable, Equatable, Sendable {
    /// The adapter's address, or its name if it has none.
    package var adapter: String
    package var measuredAt: Timestamp
    package var tap: LevelPercentiles
    package var metre: LevelPercentiles
    /// The thresholds, in dBm.
    package var tapEnter: Double
    package var tapLeave: Double
    package var nearEnter: Double
    package var nearLeave: Double

    package init(adapter: String, measuredAt: Timestamp, calibration: Calibration) {
        self.adapter = adapter
        self.measuredAt = measuredAt
        tap = calibration.tap
        metre = calibration.metre
        tapEnter = calibration.tapThresholds.enter
        tapLeave = calibration.tapThresholds.leave
        nearEnter = calibration.nearThresholds.enter
        nearLeave = calibration.nearThresholds.leave
    }

    enum CodingKeys: String, CodingKey {
        case adapter, tap, metre
        case measuredAt = "measured_at"
        case tapEnter = "tap_enter"
        case tapLeave = "tap_leave"
        case nearEnter = "near_enter"
        case nearLeave = "near_leave"
    }
}

/// `GET /v1/calibration`.
package struct CalibrationsReply: Codable, Equatable, Sendable {
    package var calibrations: [CalibrationView]

    package init(calibrations: [CalibrationView]) {
        self.calibrations = calibrations
    }
}
