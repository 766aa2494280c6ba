import GotchuCore

extension Event {
    /// The event's JSON with sorted keys and its line feed, the same as an encoder's at a fraction
    /// of the cost, for the events that come with nearly every advertisement; `nil` for all others.
    package var quickLine: [UInt8]? {
        switch self {
        case .presenceChanged(let presence) where presence.session == nil:
            var line = JSONLine()
            line.open()
            line.add("event", "session")
            line.open("session")
            presence.add(to: &line)
            line.close()
            line.close()
            return line.ended()
        case .presenceLost(let eid):
            var line = JSONLine()
            line.open()
            line.add("eid", eid)
            line.add("event", "session_lost")
            line.close()
            return line.ended()
        case .snapshot, .statusChanged, .presenceChanged, .requestChanged, .paymentChanged, .lagged:
            return nil
        }
    }
}

extension PresenceView {
    /// Adds every field but the resolved session, sorted by name.
    fileprivate func add(to line: inout JSONLine) {
        line.add("adapter", adapter)
        line.add("carrier", carrier.rawValue)
        line.add("eid", eid)
        line.add("first_heard_at", firstHeardAt)
        line.add("last_heard_at", lastHeardAt)
        if let marginDB { line.add("margin_db", marginDB) }
        line.add("rate_hz", rateHz)
        line.add("reason", reason)
        if let rssiDBm { line.add("rssi_dbm", rssiDBm) }
        if let smoothedDBm { line.add("smoothed_dbm", smoothedDBm) }
        line.add("verdict", verdict.rawValue)
    }
}

/// A builder of JSON.
private struct JSONLine {
    private var text = TextBytes(capacity: 512)
    private var isFirst = true

    consuming func ended() -> [UInt8] {
        text.add(UInt8(ascii: "\n"))
        return text.bytes
    }

    mutating func open(_ key: String? = nil) {
        if let key { self.key(key) }
        text.add(UInt8(ascii: "{"))
        isFirst = true
    }

    mutating func close() {
        text.add(UInt8(ascii: "}"))
        isFirst = false
    }

    mutating func add(_ key: String, _ value: String) {
        self.key(key)
        text.add(json: value)
    }

    mutating func add(_ key: String, _ eid: EID) {
        self.key(key)
        text.add(UInt8(ascii: "\""))
        text.add(eid)
        text.add(UInt8(ascii: "\""))
    }

    mutating func add(_ key: String, _ moment: Timestamp) {
        self.key(key)
        text.add(UInt8(ascii: "\""))
        text.add(moment)
        text.add(UInt8(ascii: "\""))
    }

    mutating func add(_ key: String, _ number: Int) {
        self.key(key)
        text.add(number)
    }

    /// - Parameter number: finite; JSON has no other.
    mutating func add(_ key: String, _ number: Double) {
        self.key(key)
        let tenths = (number * 10).rounded()
        // The usual case: whole tenths, small enough to be printed without an exponent.
        if tenths / 10 == number, tenths.magnitude < 1e9, tenths != 0 || number.sign == .plus {
            let tenths = Int(tenths)
            if tenths.isMultiple(of: 10) { text.add(tenths / 10) } else { text.add(tenths: tenths) }
            return
        }
        let digits = "\(number)"
        text.add(digits.hasSuffix(".0") ? String(digits.dropLast(2)) : digits)
    }

    private mutating func key(_ key: String) {
        if !isFirst { text.add(UInt8(ascii: ",")) }
        isFirst = false
        text.add(UInt8(ascii: "\""))
        text.add(key)
        text.add("\":")
    }
}
