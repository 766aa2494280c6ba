import Glibc
import GotchuCore
import Logging
import PaymentClient

/// The places that a setting can come from, the most specific first.
struct ConfigurationSources {
    let flags: ConfigurationFlags
    let environment: [String: String]
    let file: ConfigurationFile

    func socketPath() throws(ConfigurationError) -> String {
        let path = pick(flags.socket, "--socket", "GOTCHU_SOCKET", file.socket, "socket")
        let value = path?.value ?? DaemonConfiguration.defaultSocketPath
        guard value.hasPrefix("/"), value.utf8.count < 108 - ".lock".utf8.count else {
            throw ConfigurationError(
                place: path?.place ?? "socket",
                problem: "A socket path begins with / and has at most 102 bytes."
            )
        }
        return value
    }

    func stateDirectory() throws(ConfigurationError) -> String {
        let picked = pick(flags.state, "--state", "GOTCHU_STATE", file.state, "state")
        let fallback = environment["STATE_DIRECTORY"] ?? Self.personalStateDirectory(environment)
        let value = picked?.value ?? fallback
        guard value.hasPrefix("/") else {
            throw ConfigurationError(
                place: picked?.place ?? "STATE_DIRECTORY",
                problem: "The state folder's path begins with /."
            )
        }
        return value
    }

    func server() throws(ConfigurationError) -> ServerURL {
        let picked = pick(flags.server, "--server", "GOTCHU_SERVER", file.server, "server")
        guard let url = ServerURL(picked?.value ?? DaemonConfiguration.defaultServer) else {
            throw ConfigurationError(
                place: picked?.place ?? "server",
                problem: "A server is http:// or https:// and a host, such as https://pay.example."
            )
        }
        return url
    }

    func tokenFile() throws(ConfigurationError) -> String? {
        let picked = pick(
            flags.tokenFile,
            "--token-file",
            "GOTCHU_TOKEN_FILE",
            file.tokenFile,
            "token_file"
        )
        guard let picked else { return nil }
        guard !picked.value.isEmpty else {
            throw ConfigurationError(place: picked.place, problem: "A token file has a path.")
        }
        return picked.value
    }

    func radio() throws(ConfigurationError) -> RadioSpecification {
        let picked = pick(flags.radio, "--radio", "GOTCHU_RADIO", file.radio, "radio")
        guard let radio = RadioSpecification(picked?.value ?? "auto") else {
            throw ConfigurationError(
                place: picked?.place ?? "radio",
                problem: "A radio is auto, bluez, discovery or management, with or without :hciN, "
                    + "simulated:FOLDER with @X,Y in metres, or replay:FILE."
            )
        }
        return radio
    }

    func serviceUUID() throws(ConfigurationError) -> UInt16 {
        guard let text = environment["GOTCHU_SERVICE_UUID"] ?? file.serviceUUID?.value else {
            return DaemonConfiguration.defaultServiceUUID
        }
        guard text.utf8.count == 4, let number = UInt16(digits: text, radix: 16) else {
            throw ConfigurationError(
                place: environment["GOTCHU_SERVICE_UUID"] == nil
                    ? file.place(of: "service_uuid") : "GOTCHU_SERVICE_UUID",
                problem: "A service UUID is four hex digits, such as feed."
            )
        }
        return number
    }

    func eidLifetime() throws(ConfigurationError) -> Duration? {
        let variable = "GOTCHU_EID_SECONDS"
        let text = environment[variable]
        let seconds =
            text.map { Int(digits: $0) ?? -1 } ?? file.eidSeconds
            ?? DaemonConfiguration.defaultEIDSeconds
        guard (0...300).contains(seconds) else {
            throw ConfigurationError(
                place: text == nil ? file.place(of: "eid_seconds") : variable,
                problem: "An EID lives for 1 to 300 seconds, or with 0 as long as its request."
            )
        }
        return seconds == 0 ? nil : .seconds(seconds)
    }

    func group() -> String {
        environment["GOTCHU_GROUP"] ?? file.group?.value ?? DaemonConfiguration.defaultGroup
    }

    func userIDs(
        _ flag: KeyPath<ConfigurationFlags, [UInt32]>,
        _ variable: String,
        _ fromFile: [UInt32]?
    ) throws(ConfigurationError) -> Set<UInt32> {
        if !flags[keyPath: flag].isEmpty { return Set(flags[keyPath: flag]) }
        guard let text = environment[variable] else { return Set(fromFile ?? []) }
        var userIDs: Set<UInt32> = []
        for part in text.split(separator: ",") {
            let words = part.split(separator: " ")
            guard words.count == 1, let userID = UInt32(digits: words[0]) else {
                throw ConfigurationError(
                    place: variable,
                    problem: "User ids are numbers with commas between them."
                )
            }
            userIDs.insert(userID)
        }
        return userIDs
    }

    func proximity() throws(ConfigurationError) -> ProximityPolicy {
        var policy = ProximityPolicy()
        policy.acceptsUnknownRSSI = file.acceptUnknownRSSI ?? false
        guard let levels = file.proximity else { return policy }
        let tap = (levels.tapEnter ?? policy.tap.enter, levels.tapLeave ?? policy.tap.leave)
        let near = (levels.nearEnter ?? policy.near.enter, levels.nearLeave ?? policy.near.leave)
        let all = [tap.0, tap.1, near.0, near.1]
        guard all.allSatisfy({ (-127...20).contains($0) }), tap.1 < tap.0, near.1 < near.0,
            near.0 <= tap.0, near.1 <= tap.1
        else {
            throw ConfigurationError(
                place: file.place(of: "proximity"),
                problem:
                    "Levels are -127 to 20 dBm; each leave is below its enter, near not above tap."
            )
        }
        policy.tap = .init(enter: tap.0, leave: tap.1)
        policy.near = .init(enter: near.0, leave: near.1)
        return policy
    }

    func logLevel() throws(ConfigurationError) -> Logger.Level {
        let picked = pick(
            flags.logLevel,
            "--log-level",
            "GOTCHU_LOG_LEVEL",
            file.logLevel,
            "log_level"
        )
        guard let level = Logger.Level(rawValue: picked?.value ?? "info") else {
            let names = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
            throw ConfigurationError(
                place: picked?.place ?? "log_level",
                problem: "A log level is one of \(names)."
            )
        }
        return level
    }

    private func pick(
        _ flag: String?,
        _ flagName: String,
        _ variable: String,
        _ fromFile: ConfigurationFile.Text?,
        _ key: String
    ) -> (value: String, place: String)? {
        if let flag { return (flag, flagName) }
        if let value = environment[variable] { return (value, variable) }
        return fromFile.map { ($0.value, file.place(of: key)) }
    }

    /// Where a person's own daemon keeps its state (XDG Base Directory Specification); root's is
    /// the system's.
    private static func personalStateDirectory(_ environment: [String: String]) -> String {
        if geteuid() == 0 { return "/var/lib/gotchu" }
        if let folder = environment["XDG_STATE_HOME"], folder.hasPrefix("/") {
            return folder + "/gotchu"
        }
        return (environment["HOME"] ?? "") + "/.local/state/gotchu"
    }
}
