import BlueZRadio
import Radio
import ServiceProcess

/// The radio to use, as `--radio` names it.
enum RadioSpecification: Equatable, Sendable {
    /// BlueZ with this adapter: its name (`hci0`) or its address in capitals. If no adapter is
    /// given, the first powered adapter is used.
    case bluez(adapter: String?, transport: TransportPolicy = .dbus)
    case simulated(folder: String, position: AirPosition)
    case replay(file: String)

    init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let argument = parts.count == 2 ? parts[1] : nil
        switch (parts[0], argument) {
        case ("simulated", let place?):
            guard let (folder, position) = Self.simulatedPlace(place) else { return nil }
            self = .simulated(folder: folder, position: position)
        case ("replay", let file?):
            guard !file.isEmpty else { return nil }
            self = .replay(file: String(file))
        default:
            guard let transport = Self.transports.first(where: { $0.name == parts[0] })?.policy
            else { return nil }
            let adapter = argument.map(Self.adapter)
            if case .some(nil) = adapter { return nil }
            self = .bluez(adapter: adapter ?? nil, transport: transport)
        }
    }

    /// Returns the adapter as the kernel and bluetoothd write it; `nil` if the text is neither a
    /// name nor an address. `hci01` is not an adapter.
    private static func adapter(_ text: Substring) -> String? {
        if text.hasPrefix("hci"), let index = UInt16(digits: text.dropFirst(3)),
            text == "hci\(index)"
        {
            return String(text)
        }
        let bytes = text.split(separator: ":", omittingEmptySubsequences: false)
        let isAddress =
            bytes.count == 6
            && bytes.allSatisfy { $0.utf8.count == 2 && UInt8(digits: $0, radix: 16) != nil }
        return isAddress ? text.uppercased() : nil
    }

    private static let transports: [(name: String, policy: TransportPolicy)] = [
        ("auto", .best), ("bluez", .dbus), ("management", .management),
    ]

    private static func simulatedPlace(_ text: Substring) -> (String, AirPosition)? {
        guard let at = text.lastIndex(of: "@") else {
            return text.hasPrefix("/") ? (String(text), AirPosition(x: 0, y: 0)) : nil
        }
        guard text.hasPrefix("/"), let position = AirPosition(text[text.index(after: at)...]) else {
            return nil
        }
        return (String(text[..<at]), position)
    }
}

extension RadioSpecification: CustomStringConvertible {
    /// The text as it is written in the configuration.
    var description: String {
        switch self {
        case .bluez(let adapter, let transport):
            let name = Self.transports.first { $0.policy == transport }?.name ?? "bluez"
            return adapter.map { "\(name):\($0)" } ?? name
        case .simulated(let folder, let position):
            return "simulated:\(folder)@\(position.x),\(position.y)"
        case .replay(let file): return "replay:\(file)"
        }
    }
}
