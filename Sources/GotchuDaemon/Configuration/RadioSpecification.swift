import Radio

/// Which radio to use, as `--radio` says it.
enum RadioSpecification: Equatable, Sendable {
    /// BlueZ with this adapter (`hci0`), or with the first that is powered.
    case bluez(adapter: String?, transport: TransportPolicy = .dbus)
    /// The simulated air in a folder.
    case simulated(folder: String, position: AirPosition)
    /// What was recorded in a file.
    case replay(file: String)

    init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let argument = parts.count == 2 ? parts[1] : nil
        switch (parts[0], argument) {
        case ("auto", nil): self = .bluez(adapter: nil, transport: .best)
        case ("bluez", nil): self = .bluez(adapter: nil)
        case ("discovery", nil): self = .bluez(adapter: nil, transport: .discovery)
        case ("management", nil): self = .bluez(adapter: nil, transport: .management)
        case ("auto", let adapter?), ("bluez", let adapter?), ("discovery", let adapter?),
            ("management", let adapter?):
            guard adapter.hasPrefix("hci"), UInt16(adapter.dropFirst(3)) != nil else { return nil }
            let policies: [Substring: TransportPolicy] = [
                "auto": .best, "bluez": .dbus, "discovery": .discovery, "management": .management,
            ]
            guard let transport = policies[parts[0]] else { return nil }
            self = .bluez(adapter: String(adapter), transport: transport)
        case ("simulated", let place?):
            guard let (folder, position) = Self.simulatedPlace(place) else { return nil }
            self = .simulated(folder: folder, position: position)
        case ("replay", let file?):
            guard !file.isEmpty else { return nil }
            self = .replay(file: String(file))
        default:
            return nil
        }
    }

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
