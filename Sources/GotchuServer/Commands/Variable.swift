internal import FoundationEssentials
internal import Glibc
internal import ServiceProcess

/// An option's value from the environment, for what the command line does not say.
enum Variable: String, CaseIterable {
    case connections = "CONNECTIONS"
    case database = "DATABASE"
    case dev = "DEV"
    case devOpeningBalance = "DEV_OPENING_BALANCE"
    case drainSeconds = "DRAIN_SECONDS"
    case listen = "LISTEN"
    case logLevel = "LOG_LEVEL"
    case oidcAudience = "OIDC_AUDIENCE"
    case oidcIssuer = "OIDC_ISSUER"
    case oidcJWKS = "OIDC_JWKS"
    case openMetrics = "OPEN_METRICS"
    case queue = "QUEUE"
    case tokenSeconds = "TOKEN_SECONDS"
    case trustedProxy = "TRUSTED_PROXY"

    private static let prefix = "GOTCHU_SERVER_"

    /// Those of the environment that look like one and are none: misspelt, and without effect.
    static var unknown: [String] {
        unknown(among: ProcessInfo.processInfo.environment.keys)
    }

    /// gotchud, which may share this environment, has one that is called GOTCHU_SERVER, and one for
    /// the level of its log.
    static func unknown(among names: some Sequence<String>) -> [String] {
        let known = Set(allCases.map(\.name))
        let shortened = Set(allCases.map { "GOTCHU_" + $0.rawValue })
        let daemons: Set = ["GOTCHU_SERVER", "GOTCHU_" + logLevel.rawValue]
        return names.filter { name in
            guard !known.contains(name), !daemons.contains(name) else { return false }
            return name.hasPrefix("GOTCHU_SERVER") || shortened.contains(name)
        }.sorted()
    }

    private var name: String { Self.prefix + rawValue }

    /// The option that it stands for, without its dashes.
    var option: String { rawValue.lowercased().replacing("_", with: "-") }

    /// What it holds; empty is as good as absent.
    ///
    /// - Parameters:
    ///   - form: How such a value is written, for a person who wrote it otherwise.
    func value<Value>(_ form: String, _ read: (String) -> Value?) throws -> Value? {
        guard let text = getenv(name).map({ String(cString: $0) }), !text.isEmpty else {
            return nil
        }
        guard let value = read(text) else {
            // The text is not repeated: it may hold a password.
            throw ServerFailure(
                .configuration,
                "\(name) is not \(form).",
                fix: "Correct it, or leave it out."
            )
        }
        return value
    }

    /// A text.
    var text: String? {
        get throws { try value("a text") { $0 } }
    }

    /// `1`, `true` or `yes`, or the opposite.
    var isOn: Bool {
        get throws {
            try value("true or false") { text in
                switch text.lowercased() {
                case "1", "true", "yes": true
                case "0", "false", "no": false
                default: nil
                }
            } ?? false
        }
    }
}
