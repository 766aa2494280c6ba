import FoundationEssentials
import GotchuCore

/// The settings of bluetoothd's `main.conf` that the doctor reads.
struct MainConfiguration: Equatable {
    static let path = "/etc/bluetooth/main.conf"

    /// The values by lower-case section and key; the last one of a repeated key counts.
    private let values: [String: String]

    /// The current file, which bluetoothd reads when it starts; empty if there is none.
    static var current: MainConfiguration {
        let data = FileManager.default.contents(atPath: path) ?? Data()
        return MainConfiguration(text: String(decoding: data, as: UTF8.self))
    }

    init(text: String) {
        var values: [String: String] = [:]
        var section = ""
        for line in text.split(whereSeparator: \.isNewline).map({ $0.trimmed }) {
            if line.hasPrefix("["), line.hasSuffix("]") {
                section = line.dropFirst().dropLast().lowercased()
            } else if !line.hasPrefix("#"), let equals = line.firstIndex(of: "=") {
                let key = line[..<equals].trimmed.lowercased()
                values["\(section).\(key)"] = line[line.index(after: equals)...].trimmed
            }
        }
        self.values = values
    }

    /// A Boolean that is true if bluetoothd will be experimental after its next start.
    var isExperimental: Bool {
        ["true", "1"].contains(values["general.experimental"]?.lowercased() ?? "")
    }

    /// The configured shortest advertising interval, in milliseconds.
    var minimumIntervalMilliseconds: Double? {
        guard let text = values["le.minadvertisementinterval"] else { return nil }
        let slots = text.hasPrefix("0x") ? Int(text.dropFirst(2), radix: 16) : Int(text)
        // A slot is 0.625 ms (Bluetooth Core, vol. 4 part E, 7.8.5).
        return slots.map { Double($0) * 0.625 }
    }
}
