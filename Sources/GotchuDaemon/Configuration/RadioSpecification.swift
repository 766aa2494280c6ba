import BlueZRadio
import Radio
import ServiceProcess

/// The radio to use, as `--radio` names it.
enum RadioSpecification: Equatable, Sendable {
    /// BlueZ with this adapter (`hci0`). If no adapter is given, the first powered adapter is used.
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
            // Only the kernel's spelling is accepted: `hci01` is not an adapter.
            if let argument {
                guard argument.hasPrefix("hci"), let index = UInt16(digits: argument.dropFirst(3)),
                    argument == "hci\(index)"
                else { return nil }
            }
            self = .bluez(adapter: argument.map(String.init), transport: transport)
        }
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
