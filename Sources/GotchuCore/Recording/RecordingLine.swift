/// One line of a recording after its header: an event of the radio with its time.
package struct RecordingLine: Equatable, Sendable {
    /// The time since the recording's start.
    package var time: Duration
    package var event: Event

    package enum Event: Equatable, Sendable {
        /// A sighting. The EID is a pseudonym; the device's address is not recorded.
        case heard(EID, Sighting.Carrier, RSSI?)
        case ignored(IgnoredReason)
        /// The scan began (true) or ended (false).
        case scanning(Bool)
        /// The number of lines that were lost because the reader was too slow.
        case lost(Int)
    }

    package init(time: Duration, event: Event) {
        self.time = time
        self.event = event
    }
}

extension RecordingLine: Codable {
    private enum CodingKeys: String, CodingKey {
        case time = "at_us"
        case eid, carrier, ignored, lost
        case rssi = "rssi_dbm"
        case scanning = "is_scanning"
    }

    package init(from decoder: any Decoder) throws {
        let line = try decoder.container(keyedBy: CodingKeys.self)
        time = .microseconds(try line.decode(Int64.self, forKey: .time))
        if let eid = try line.decodeIfPresent(EID.self, forKey: .eid) {
            let carrier = try line.decode(Sighting.Carrier.self, forKey: .carrier)
            let level = try line.decodeIfPresent(Int.self, forKey: .rssi)
            let rssi = level.flatMap { RSSI(dBm: $0) }
            guard (level == nil) == (rssi == nil) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .rssi,
                    in: line,
                    debugDescription: "not a level"
                )
            }
            event = .heard(eid, carrier, rssi)
        } else if let reason = try line.decodeIfPresent(IgnoredReason.self, forKey: .ignored) {
            event = .ignored(reason)
        } else if let isScanning = try line.decodeIfPresent(Bool.self, forKey: .scanning) {
            event = .scanning(isScanning)
        } else {
            event = .lost(try line.decode(Int.self, forKey: .lost))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var line = encoder.container(keyedBy: CodingKeys.self)
        try line.encode(time.wholeMicroseconds, forKey: .time)
        switch event {
        case .heard(let eid, let carrier, let rssi):
            try line.encode(eid, forKey: .eid)
            try line.encode(carrier, forKey: .carrier)
            try line.encodeIfPresent(rssi?.dBm, forKey: .rssi)
        case .ignored(let reason): try line.encode(reason, forKey: .ignored)
        case .scanning(let isScanning): try line.encode(isScanning, forKey: .scanning)
        case .lost(let count): try line.encode(count, forKey: .lost)
        }
    }
}
