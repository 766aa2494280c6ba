import Glibc
import GotchuAPI
import GotchuCore
import LocalAPI
import PaymentClient
import ServiceProcess

extension ServerURL: SettingValue {
    package static let rule =
        "A server is http:// or https:// and a host, such as https://pay.example."
}

extension ProxyURL: SettingValue {
    package static let rule =
        "A proxy is http://, a host and a port, such as http://proxy.example:3128."
}

extension LoopbackAddress: SettingValue {
    package static let rule =
        "Metrics are served on 127.0.0.1 or [::1] and a port, such as 127.0.0.1:9464."
}

extension RadioSpecification: SettingValue {
    static let rule =
        "A radio is auto, bluez or management, with or without :hciN or :ADDRESS of the adapter, "
        + "simulated:FOLDER with @X,Y in metres, or replay:FILE."
}

extension ListenSetting: SettingValue {
    package static let rule = "The radio listens auto, always or never."

    package init?(_ text: String) { self.init(rawValue: text) }
}

extension SettingSyntax<String> {
    static var socketPath: Self {
        Self("A socket path begins with / and has at most 102 bytes.") { text in
            text.hasPrefix("/") && text.utf8.count < 108 - ".lock".utf8.count ? text : nil
        }
    }

    static var tokenFile: Self {
        path("A token file's path begins with /.") { path in
            // A user who can write the token file decides whose money is spent.
            let mode = DaemonConfiguration.mode(of: path) ?? 0
            guard mode & (S_IWGRP | S_IWOTH) != 0 else { return nil }
            return "Others may write the token file: chmod go-w \(path.shellQuoted)"
        }
    }
}

extension SettingSyntax<UInt16> {
    static var serviceUUID: Self {
        Self(
            "A service UUID is four hex digits, such as feed.",
            write: { String($0, radix: 16) }
        ) { $0.utf8.count == 4 ? UInt16(digits: $0, radix: 16) : nil }
    }
}

extension SettingSyntax<Duration?> {
    static var eidSeconds: Self {
        Self(
            "An EID lives for 1 to 300 seconds, or with 0 as long as its request.",
            form: .wholeNumber,
            write: { "\($0?.components.seconds ?? 0)" }
        ) { text in
            guard let seconds = Int(digits: text), (0...300).contains(seconds) else { return nil }
            return .some(seconds == 0 ? nil : .seconds(seconds))
        }
    }
}

extension SettingSyntax<Set<UInt32>> {
    static var userIDs: Self {
        Self(
            "User ids are numbers with commas between them.",
            form: .userIDs,
            write: { "\($0.count) users" }
        ) { text in
            let parts = text.split(separator: ",").map { $0.split(separator: " ") }
            let userIDs = parts.compactMap { $0.count == 1 ? UInt32(digits: $0[0]) : nil }
            return userIDs.count == parts.count ? Set(userIDs) : nil
        }
    }
}

extension SettingSyntax<ProximityPolicy> {
    /// Levels in dBm, and the certainty: `tap_enter=-45,certainty=4`. What is not given keeps its
    /// default.
    static var proximity: Self {
        Self(
            "Levels are -127 to 20 dBm; each leave is below its enter, near not above tap; "
                + "certainty is 3 to 10.",
            form: .numbers(parts.map(\.name)),
            write: { policy in
                parts.map { "\($0.name)=\(policy[keyPath: $0.path])" }.joined(separator: ",")
            }
        ) { text in
            var policy = ProximityPolicy()
            for words in text.split(separator: ",").map({ $0.split(separator: "=") }) {
                guard words.count == 2, let part = parts.first(where: { $0.name == words[0] }),
                    let number = Double(words[1]), part.range.contains(number)
                else { return nil }
                policy[keyPath: part.path] = number
            }
            let (tap, near) = (policy.tap, policy.near)
            let isOrdered =
                tap.leave < tap.enter && near.leave < near.enter && near.enter <= tap.enter
                && near.leave <= tap.leave
            return isOrdered ? policy : nil
        }
    }

    private typealias Path = any WritableKeyPath<ProximityPolicy, Double> & Sendable

    private static var parts: [(name: String, path: Path, range: ClosedRange<Double>)] {
        let levels = -127.0...20
        return [
            ("tap_enter", \.tap.enter, levels), ("tap_leave", \.tap.leave, levels),
            ("near_enter", \.near.enter, levels), ("near_leave", \.near.leave, levels),
            ("certainty", \.certainty, 3...10),
        ]
    }
}
