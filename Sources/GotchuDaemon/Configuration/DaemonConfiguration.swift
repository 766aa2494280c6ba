import BlueZRadio
import Glibc
import GotchuAPI
import GotchuCore
import LocalAPI
import Logging
import Pages
import PaymentClient
import Radio
import ServiceProcess

/// The resolved configuration of gotchud. A flag overrides an environment variable, which overrides
/// the file, which overrides the default.
struct DaemonConfiguration: Settings {
    var socketPath = SocketPath.system
    var stateDirectory = ""
    /// The payment server. The default is a server on this machine.
    var server = Self.defaultServer
    /// A PEM file of certificates that are trusted in addition to the system's.
    var caFile: String?
    var proxy: ProxyURL?
    /// The token file. If it is `nil`, the systemd credential `token` is used, or else the state
    /// folder.
    var tokenFile: String?
    var radio = RadioSpecification.bluez(adapter: nil, transport: .best)
    var listen = ListenSetting.auto
    /// The UUID that advertisements carry. The default 0xFEED is assigned to Tile: a product must
    /// use its own number.
    var serviceUUID: UInt16 = 0xFEED
    /// The time after which an open request changes its EID; `nil` if it keeps one EID. Most
    /// requests end before this. A till cannot be tracked longer than this by one EID.
    var eidLifetime: Duration? = .seconds(120)
    var group = Self.defaultGroup
    var observerUserIDs: Set<UInt32> = []
    /// The users who may see the display, in addition to `displayUser`.
    var viewerUserIDs: Set<UInt32> = []
    var cashierUserIDs: Set<UInt32> = []
    var spenderUserIDs: Set<UInt32> = []
    var proximity = ProximityPolicy()
    /// A Boolean that is true if the adapter may be switched off and on as the last means to
    /// restore the scan.
    var canPowerCycle = false
    /// The address on which metrics are served in addition to the socket; `nil` for none.
    var metrics: LoopbackAddress?
    var screens = ScreenSettings()
    var logLevel = Logger.Level.info

    static let prefix = "GOTCHU_"

    /// The settings. Only the lists of users can change while the daemon runs. The socket keeps the
    /// group that it was created with; `gotchu-ctl doctor` relies on this.
    static let table: [Setting<Self>] = [
        Setting("socket", \.socketPath, .socketPath),
        Setting("state", \.stateDirectory, .path("The state folder's path begins with /.")),
        Setting("server", \.server, .own),
        Setting("ca_file", \.caFile, .path("The path of a file of CA certificates begins with /.")),
        Setting("proxy", \.proxy, .own),
        Setting("token_file", \.tokenFile, .tokenFile),
        Setting("radio", \.radio, .own),
        Setting("listen", \.listen, .own),
        Setting("service_uuid", \.serviceUUID, .serviceUUID),
        Setting("eid_seconds", \.eidLifetime, .eidSeconds),
        Setting("group", \.group, .text),
        Setting("viewer_uids", \.viewerUserIDs, .userIDs, isReloaded: true),
        Setting("observer_uids", \.observerUserIDs, .userIDs, isReloaded: true),
        Setting("cashier_uids", \.cashierUserIDs, .userIDs, flag: "cashier-uid", isReloaded: true),
        Setting("spender_uids", \.spenderUserIDs, .userIDs, flag: "spender-uid", isReloaded: true),
        // This setting sets the whole policy. The settings of single parts follow it.
        Setting("proximity", \.proximity, .proximity, variable: false),
        Setting("accept_unknown_rssi", \.proximity.acceptsUnknownRSSI, .boolean, variable: false),
        Setting("power_cycle", \.canPowerCycle, .boolean, variable: false),
        Setting("metrics", \.metrics, .own),
        Setting("screens.display", \.screens.display, .screenAddress),
        Setting("screens.till", \.screens.till, .screenAddress),
        Setting("screens.shop", \.screens.appearance.shop, .shopName),
        Setting("screens.logo", \.screens.logo, .path("A logo's path begins with /.")),
        Setting("screens.languages", \.screens.appearance.languages, .languages),
        Setting("screens.text_scale", \.screens.appearance.textScale, .textScale),
        Setting("screens.antenna", \.screens.appearance.antenna, .own),
        Setting("screens.motion", \.screens.appearance.hasMotion, .boolean),
        Setting("screens.sound", \.screens.appearance.hasSound, .boolean),
        Setting("log_level", \.logLevel, .logLevel),
    ]

    /// The user whose browser shows the display. A package creates this user.
    static let displayUser = "gotchu-display"
    /// The group that may request money by default. A package creates it.
    static let defaultGroup = "gotchu"
    /// The configuration file that is read if no other file is named. It may be missing.
    static let defaultFile = "/etc/gotchu/gotchud.json"
    private static let defaultServer: ServerURL = {
        guard let server = ServerURL("http://127.0.0.1:8080") else {
            preconditionFailure("this is the URL of a server")
        }
        return server
    }()
}

extension DaemonConfiguration {
    /// Builds the configuration from its sources.
    ///
    /// - Parameters:
    ///   - flags: The command line's options by key.
    ///   - environment: The process's environment.
    init(
        flags: [String: String?] = [:],
        environment: [String: String],
        file: ConfigurationFile
    ) throws(ConfigurationError) {
        self.init()
        try resolve(
            from: SettingSources(
                flags: flags,
                environment: environment,
                file: file.settings,
                defaults: [
                    "socket": SocketPath.personal(runtimeFolder: environment["XDG_RUNTIME_DIR"]),
                    "state": environment["STATE_DIRECTORY"] ?? Self.stateDirectory(environment),
                ]
            )
        )
        guard !stateDirectory.isEmpty else {
            throw ConfigurationError(
                place: "state",
                problem: "There is no HOME to keep the journal in: name a folder with --state."
            )
        }
        try requireDifferentPorts()
    }

    /// Throws if two addresses are the same: only one of the two could be served.
    private func requireDifferentPorts() throws(ConfigurationError) {
        let addresses = [
            ("metrics", metrics), ("screens.display", screens.display),
            ("screens.till", screens.till),
        ]
        for (index, (key, address)) in addresses.enumerated() {
            // The system chooses a free port instead of the port 0.
            guard let address, address.port != 0,
                let other = addresses[..<index].first(where: { $0.1 == address })
            else { continue }
            throw ConfigurationError(
                place: key,
                problem: "\(address) is the address of \(other.0): choose another port."
            )
        }
    }

    /// Returns the variables that look like settings but set nothing. Most of them are mistyped.
    static func unknownVariables(in environment: [String: String]) -> [String] {
        unknownVariables(among: environment.keys) { name in
            // The variables of gotchu-server may be set in the same environment.
            name.hasPrefix(prefix) && !name.hasPrefix("GOTCHU_SERVER_") && name != "GOTCHU_CONFIG"
        }
    }

    /// Returns the default state folder: the system's for root, otherwise the user's own (XDG Base
    /// Directory Specification). Returns `nil` if the user's home is not known.
    private static func stateDirectory(_ environment: [String: String]) -> String? {
        if geteuid() == 0 { return "/var/lib/gotchu" }
        if let folder = environment["XDG_STATE_HOME"], folder.hasPrefix("/") {
            return folder + "/gotchu"
        }
        guard let home = environment["HOME"], home.hasPrefix("/") else { return nil }
        return home + "/.local/state/gotchu"
    }
}
