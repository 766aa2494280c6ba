import FoundationEssentials
import Glibc

/// `gotchud.json`, as it is on disk.
struct ConfigurationFile: Decodable, Sendable {
    var socket: Text?
    var state: Text?
    var server: Text?
    var tokenFile: Text?
    var radio: Text?
    var serviceUUID: Text?
    var eidSeconds: Int?
    var group: Text?
    var cashierUIDs: [UInt32]?
    var spenderUIDs: [UInt32]?
    var acceptUnknownRSSI: Bool?
    var powerCycle: Bool?
    var proximity: Levels?
    var logLevel: Text?

    private var path = ""
    private var text = ""

    /// An empty one, for when there is no file.
    init() {}

    /// A string setting.
    struct Text: Decodable, Sendable {
        let value: String

        init(from decoder: any Decoder) throws {
            value = try decoder.singleValueContainer().decode(String.self)
        }
    }

    /// Levels in dBm; what is absent keeps its default.
    struct Levels: Decodable, Sendable {
        var tapEnter: Double?
        var tapLeave: Double?
        var nearEnter: Double?
        var nearLeave: Double?

        enum CodingKeys: String, CodingKey, CaseIterable {
            case tapEnter = "tap_enter"
            case tapLeave = "tap_leave"
            case nearEnter = "near_enter"
            case nearLeave = "near_leave"
        }

        init(from decoder: any Decoder) throws {
            try refuseUnknownKeys(decoder, CodingKeys.self)
            let container = try decoder.container(keyedBy: CodingKeys.self)
            tapEnter = try container.decodeIfPresent(Double.self, forKey: .tapEnter)
            tapLeave = try container.decodeIfPresent(Double.self, forKey: .tapLeave)
            nearEnter = try container.decodeIfPresent(Double.self, forKey: .nearEnter)
            nearLeave = try container.decodeIfPresent(Double.self, forKey: .nearLeave)
        }
    }

    enum CodingKeys: String, CodingKey, CaseIterable {
        case socket, state, server, radio, group, proximity
        case tokenFile = "token_file"
        case serviceUUID = "service_uuid"
        case eidSeconds = "eid_seconds"
        case cashierUIDs = "cashier_uids"
        case spenderUIDs = "spender_uids"
        case acceptUnknownRSSI = "accept_unknown_rssi"
        case powerCycle = "power_cycle"
        case logLevel = "log_level"
    }

    init(from decoder: any Decoder) throws {
        try refuseUnknownKeys(decoder, CodingKeys.self)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        socket = try container.decodeIfPresent(Text.self, forKey: .socket)
        state = try container.decodeIfPresent(Text.self, forKey: .state)
        server = try container.decodeIfPresent(Text.self, forKey: .server)
        tokenFile = try container.decodeIfPresent(Text.self, forKey: .tokenFile)
        radio = try container.decodeIfPresent(Text.self, forKey: .radio)
        serviceUUID = try container.decodeIfPresent(Text.self, forKey: .serviceUUID)
        eidSeconds = try Self.value(container, .eidSeconds)
        group = try container.decodeIfPresent(Text.self, forKey: .group)
        cashierUIDs = try Self.userIDs(container, .cashierUIDs)
        spenderUIDs = try Self.userIDs(container, .spenderUIDs)
        acceptUnknownRSSI = try container.decodeIfPresent(Bool.self, forKey: .acceptUnknownRSSI)
        powerCycle = try container.decodeIfPresent(Bool.self, forKey: .powerCycle)
        proximity = try Self.value(container, .proximity)
        logLevel = try container.decodeIfPresent(Text.self, forKey: .logLevel)
    }

    /// What has numbers in it. Of one that does not fit, the decoder has an error of its own kind,
    /// which does not say under which key it stands.
    private static func value<Value: Decodable>(
        _ container: KeyedDecodingContainer<CodingKeys>,
        _ key: CodingKeys
    ) throws -> Value? {
        do {
            return try container.decodeIfPresent(Value.self, forKey: key)
        } catch let error as DecodingError {
            throw error
        } catch {
            throw misfit(container, key)
        }
    }

    private static func userIDs(
        _ container: KeyedDecodingContainer<CodingKeys>,
        _ key: CodingKeys
    ) throws -> [UInt32]? {
        let numbers: [Int]? = try value(container, key)
        return try numbers?.map { number in
            guard let userID = UInt32(exactly: number) else { throw misfit(container, key) }
            return userID
        }
    }

    private static func misfit(
        _ container: KeyedDecodingContainer<CodingKeys>,
        _ key: CodingKeys
    ) -> DecodingError {
        .dataCorruptedError(forKey: key, in: container, debugDescription: "no such number")
    }

    /// Reads a file. An error names the file and the line.
    init(path: String) throws(ConfigurationError) {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw ConfigurationError(
                place: path,
                problem: "The file cannot be read: \(Self.obstacle(path))."
            )
        }
        guard let text = String(data: data, encoding: .utf8) else {
            throw ConfigurationError(place: path, problem: "The file is not UTF-8 text.")
        }
        try ConfigurationError.requireObject(text, path: path)
        do {
            self = try JSONDecoder().decode(Self.self, from: data)
        } catch let error as DecodingError {
            throw ConfigurationError(decoding: error, path: path, text: text)
        } catch {
            throw ConfigurationError(place: path, problem: "The file is not valid JSON.")
        }
        self.path = path
        self.text = text
    }

    /// Whether a file is there, though perhaps not to be read: then the defaults must not apply.
    static func isThere(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 || (errno != ENOENT && errno != ENOTDIR)
    }

    /// Why a file cannot be read.
    private static func obstacle(_ path: String) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return String(cString: strerror(errno)) }
        close(descriptor)
        return "it is not a file"
    }

    /// `FILE:LINE` of a key.
    func place(of key: String) -> String {
        "\(path):\(ConfigurationError.line(of: key, in: text) ?? 1)"
    }
}

/// A key that is not known is a typing error, and a setting that silently does nothing.
private func refuseUnknownKeys<Key: CodingKey & CaseIterable>(
    _ decoder: any Decoder,
    _ known: Key.Type
) throws {
    let names = Set(known.allCases.map(\.stringValue))
    for key in try decoder.container(keyedBy: AnyKey.self).allKeys
    where !names.contains(key.stringValue) {
        throw DecodingError.dataCorrupted(
            .init(codingPath: decoder.codingPath + [key], debugDescription: UnknownKey.mark)
        )
    }
}

private struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

/// How our own decoder marks an unknown key.
enum UnknownKey {
    static let mark = "unknown key"
}
