import GotchuCore

extension Event {
    /// The same JSON as an encoder's with sorted keys, for the events that come with nearly every
    /// advertisement: a fraction of the work. `nil` for all others.
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
            return line.bytes
        case .presenceLost(let eid):
            var line = JSONLine()
            line.open()
            line.add("eid", eid.description)
            line.add("event", "session_lost")
            line.close()
            return line.bytes
        case .snapshot, .statusChanged, .presenceChanged, .requestChanged, .paymentChanged, .lagged:
            return nil
        }
    }
}

extension PresenceView {
    /// Every field but the resolved session, in the order of their names.
    fileprivate func add(to line: inout JSONLine) {
        line.add("adapter", adapter)
        line.add("carrier", carrier.rawValue)
        line.add("eid", eid.description)
        line.add("first_heard_at", firstHeardAt.iso8601)
        line.add("last_heard_at", lastHeardAt.iso8601)
        if let marginDB { line.add("margin_db", marginDB) }
        line.add("rate_hz", rateHz)
        line.add("reason", reason)
        if let rssiDBm { line.add("rssi_dbm", rssiDBm) }
        if let smoothedDBm { line.add("smoothed_dbm", smoothedDBm) }
        line.add("verdict", verdict.rawValue)
    }
}

/// JSON that is written from the front to the back.
private struct JSONLine {
    private(set) var bytes: [UInt8] = []
    private var isFirst = true

    init() {
        bytes.reserveCapacity(384)
    }

    mutating func open(_ key: StaticString? = nil) {
        if let key { self.key(key) }
        bytes.append(UInt8(ascii: "{"))
        isFirst = true
    }

    mutating func close() {
        bytes.append(UInt8(ascii: "}"))
        isFirst = false
    }

    mutating func add(_ key: StaticString, _ text: String) {
        self.key(key)
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case 0..<0x20: escape(byte)
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    mutating func add(_ key: StaticString, _ number: Int) {
        self.key(key)
        bytes += "\(number)".utf8
    }

    /// - Parameter number: finite; JSON has no other.
    mutating func add(_ key: StaticString, _ number: Double) {
        self.key(key)
        let text = "\(number)".utf8
        bytes += text
        if text.suffix(2).elementsEqual(".0".utf8) { bytes.removeLast(2) }
    }

    private mutating func key(_ key: StaticString) {
        if !isFirst { bytes.append(UInt8(ascii: ",")) }
        isFirst = false
        bytes.append(UInt8(ascii: "\""))
        key.withUTF8Buffer { bytes += $0 }
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
    }

    private mutating func escape(_ byte: UInt8) {
        switch byte {
        case 0x08: bytes += "\\b".utf8
        case 0x09: bytes += "\\t".utf8
        case 0x0A: bytes += "\\n".utf8
        case 0x0C: bytes += "\\f".utf8
        case 0x0D: bytes += "\\r".utf8
        default:
            let digits = String(byte, radix: 16)
            bytes += "\\u\(String(repeating: "0", count: 4 - digits.utf8.count))\(digits)".utf8
        }
    }
}
