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
import TestSupport
import Testing

@testable import GotchuDaemon

@Suite("The configuration")
struct ConfigurationTests {
    private func resolve(
        flags: [String: String] = [:],
        environment: [String: String] = [:],
        file text: String? = nil
    ) throws -> DaemonConfiguration {
        var file = ConfigurationFile()
        if let text {
            let folder = try TemporaryFolder()
            file = try ConfigurationFile(path: try folder.write(text, to: "gotchud.json"))
        }
        return try DaemonConfiguration(flags: flags, environment: environment, file: file)
    }

    @Test("A flag overrides the environment, which overrides the file, which overrides the default")
    func precedence() throws {
        let file = #"{"server": "http://127.0.0.1:3"}"#
        let environment = ["GOTCHU_SERVER": "http://127.0.0.1:2"]
        #expect(try resolve().server.description == "http://127.0.0.1:8080")
        #expect(try resolve(file: file).server.description == "http://127.0.0.1:3")
        #expect(
            try resolve(environment: environment, file: file).server.description
                == "http://127.0.0.1:2"
        )
        let flags = ["server": "http://127.0.0.1:1"]
        #expect(
            try resolve(flags: flags, environment: environment, file: file).server.description
                == "http://127.0.0.1:1"
        )
    }

    @Test("Every key of the file is read")
    func everyKey() throws {
        let configuration = try resolve(
            file: """
                {
                  "socket": "/tmp/a.sock", "state": "/tmp/a", "server": "https://pay.example/",
                  "ca_file": "/tmp/ca.pem", "proxy": "http://proxy.example:3128",
                  "token_file": "/tmp/token", "radio": "bluez:hci1", "service_uuid": "fd6f",
                  "listen": "always", "eid_seconds": 60,
                  "group": "tills", "observer_uids": [999], "cashier_uids": [1000],
                  "spender_uids": [1001, 1002],
                  "accept_unknown_rssi": true, "log_level": "debug",
                  "power_cycle": true, "metrics": "[::1]:9464",
                  "proximity": {"tap_enter": -40, "tap_leave": -50, "near_enter": -55,
                                "certainty": 4},
                  "viewer_uids": [998],
                  "screens": {
                    "display": "127.0.0.1:7465", "till": "127.0.0.1:7466",
                    "shop": "Corner Cafe", "logo": "/etc/gotchu/logo.svg",
                    "languages": ["de", "ar"], "text_scale": 1.25, "antenna": "right",
                    "motion": false, "sound": true
                  }
                }
                """
        )
        #expect(configuration.socketPath == "/tmp/a.sock")
        #expect(configuration.eidLifetime == .seconds(60))
        #expect(configuration.stateDirectory == "/tmp/a")
        #expect(configuration.server.description == "https://pay.example")
        #expect(configuration.caFile == "/tmp/ca.pem")
        #expect(configuration.proxy?.description == "http://proxy.example:3128")
        #expect(configuration.tokenFile == "/tmp/token")
        #expect(configuration.radio == .bluez(adapter: "hci1"))
        #expect(configuration.listen == .always)
        #expect(configuration.serviceUUID == 0xFD6F)
        #expect(configuration.group == "tills")
        #expect(configuration.observerUserIDs == [999])
        #expect(configuration.cashierUserIDs == [1000])
        #expect(configuration.spenderUserIDs == [1001, 1002])
        #expect(configuration.proximity.acceptsUnknownRSSI && configuration.canPowerCycle)
        #expect(configuration.proximity.tap == .init(enter: -40, leave: -50))
        #expect(configuration.proximity.near == .init(enter: -55, leave: -68))
        #expect(configuration.proximity.certainty == 4)
        #expect(configuration.metrics.map { "\($0)" } == "[::1]:9464")
        #expect(configuration.logLevel == .debug)
        #expect(configuration.viewerUserIDs == [998])
        var screens = ScreenSettings()
        screens.display = LoopbackAddress("127.0.0.1:7465")
        screens.till = LoopbackAddress("127.0.0.1:7466")
        screens.logo = "/etc/gotchu/logo.svg"
        var appearance = DisplayPage.Appearance()
        (appearance.shop, appearance.languages, appearance.textScale) = (
            "Corner Cafe", [.german, .arabic], 1.25
        )
        (appearance.antenna, appearance.hasMotion, appearance.hasSound) = (.right, false, true)
        screens.appearance = appearance
        #expect(configuration.screens == screens)
    }

    @Test(
        "A reload applies new user ids; every other changed setting needs a restart",
        arguments: DaemonConfiguration.table.map(\.key)
    )
    func reload(key: String) throws {
        let (text, appliesOnReload) =
            switch key {
            case "socket", "state", "token_file", "ca_file", "group": (#""/other""#, false)
            case "server": (#""https://other.example""#, false)
            case "proxy": (#""http://proxy.example:3128""#, false)
            case "radio": (#""bluez:hci9""#, false)
            case "listen": (#""never""#, false)
            case "service_uuid": (#""fd6f""#, false)
            case "eid_seconds": ("77", false)
            case "viewer_uids", "observer_uids", "cashier_uids", "spender_uids": ("[7]", true)
            case "proximity": (#"{"tap_enter": -41}"#, false)
            case "metrics": (#""127.0.0.1:9464""#, false)
            case "log_level": (#""trace""#, false)
            case "screens.display", "screens.till": (#""127.0.0.1:7465""#, false)
            case "screens.shop": (#""Corner Cafe""#, false)
            case "screens.logo": (#""/logo.svg""#, false)
            case "screens.languages": (#"["de", "en"]"#, false)
            case "screens.text_scale": ("1.25", false)
            case "screens.antenna": (#""left""#, false)
            case "screens.motion": ("false", false)
            default: ("true", false)
            }
        let old = try resolve()
        let members = key.split(separator: ".").reversed()
        let file = members.reduce(text) { #"{"\#($1)": \#($0)}"# }
        let new = try resolve(file: file)
        #expect(old.needsRestart(for: new) == !appliesOnReload)
        let reloaded = old.reloaded(from: new)
        #expect(reloaded.viewerUserIDs == new.viewerUserIDs)
        #expect(reloaded.observerUserIDs == new.observerUserIDs)
        #expect(reloaded.cashierUserIDs == new.cashierUserIDs)
        #expect(reloaded.spenderUserIDs == new.spenderUserIDs)
        // The socket's file keeps its group until a restart, so a reload keeps the old setting.
        #expect(reloaded.group == old.group && !reloaded.needsRestart(for: old))
    }

    @Test(
        "A setting with an invisible control character is refused with its key",
        arguments: ["\\u0000", "\\n", "\\u001b", "\\u0085", "\\u202e", "\\u2028", "\\u2066"]
    )
    func controlCharacters(character: String) throws {
        for (key, value) in [("shop", "Corner"), ("logo", "/logo")] {
            let file = "{\n \"screens\": {\n\"\(key)\": \"\(value)\(character)Cafe\"}}"
            let error = try #require(throws: ConfigurationError.self) { try resolve(file: file) }
            #expect(error.problem.hasPrefix("screens.\(key): "), "\(error)")
            #expect(error.place.hasSuffix(":3"), "\(error)")
        }
        let variables = ["GOTCHU_GROUP": "tills\n"]
        #expect(throws: ConfigurationError.self) { try resolve(environment: variables) }
        let arabic = try resolve(file: #"{"screens": {"shop": "\u200f\u0645\u0642\u0647\u0649"}}"#)
        #expect(arabic.screens.appearance.shop?.isEmpty == false)
    }

    @Test(
        "A bad file is refused with the number of its bad line",
        arguments: [
            ("{\n  \"radoi\": \"auto\"\n}", 2, "radoi: There is no setting with this name."),
            ("{\n\n  \"socket\": 5\n}", 3, "socket: This must be text in quotes."),
            ("{\n  \"socket\" \"x\"\n}", 2, "This is not a valid JSON object"),
            ("{\n  \"group\": \"a\",\n  \"group\": \"b\"\n}", 3, "group: This key stands twice."),
            ("{\n  \"cashier_uids\": [1,\n  -1]\n}", 2, "cashier_uids: No such number"),
            ("{\n  \"spender_uids\": 7\n}", 2, "spender_uids: This must be a list."),
            ("{\n  \"eid_seconds\": 99999999999999999999\n}", 2, "eid_seconds: No such number"),
            ("{\n  \"eid_seconds\": 1.5\n}", 2, "eid_seconds: No such number"),
            ("{\n  \"eid_seconds\": 301\n}", 2, "An EID lives for 1 to 300 seconds"),
            ("{\n  \"cashier_uids\": [\"x\"]\n}", 2, "This must be a whole number."),
            ("{\"proximity\": {\n\"tap_enter\": \"x\"}}", 2, "tap_enter: This must be a number."),
            ("{\n  \"spender_uids\": [1.5]\n}", 2, "spender_uids: No such number"),
            ("{\n  \"proximity\": {\"tap_enter\": 1e400}\n}", 2, "proximity: No such number"),
            ("{\n  \"token_file\": \"\"\n}", 2, "A token file's path begins with /."),
            ("{\n  \"token_file\": \"token\"\n}", 2, "A token file's path begins with /."),
            ("{\n  \"ca_file\": \"ca.pem\"\n}", 2, "begins with /"),
            ("{\n  \"proxy\": \"proxy.example:3128\"\n}", 2, "A proxy is http://"),
            ("{\n  \"metrics\": \"0.0.0.0:9464\"\n}", 2, "Metrics are served on 127.0.0.1"),
            ("{\n  \"metrics\": \"[::]:9464\"\n}", 2, "Metrics are served on 127.0.0.1"),
            ("{\n  \"metrics\": \"127.0.0.1\"\n}", 2, "Metrics are served on 127.0.0.1"),
            ("{\n  \"metrics\": \"127.0.0.1:+1\"\n}", 2, "Metrics are served on 127.0.0.1"),
            ("{\n \"screens\": {\n \"display\": \"[::1]:7465\"}}", 3, "A screen is served on 127"),
            ("{\n \"screens\": {\n \"till\": \"0.0.0.0:1\"}}", 3, "A screen is served on 127"),
            ("{\n \"screens\": {\n \"colour\": 1}}", 3, "colour: There is no setting with this"),
            ("{\n \"screens\": \"on\"}", 2, "screens: This must be an object."),
            ("{\n \"screens\": {\n \"languages\": [\"xx\"]}}", 3, "one or two different languages"),
            ("{\n \"screens\": {\n \"languages\": [\"en\", \"en\"]}}", 3, "one or two different"),
            ("{\n \"screens\": {\n \"languages\": []}}", 3, "one or two different languages"),
            ("{\n \"screens\": {\n \"text_scale\": 2}}", 3, "The scale of text is 0.8 to 1.6."),
            (
                "{\n \"screens\": {\n \"text_scale\": \"1\"}}", 3,
                "text_scale: This must be a number"
            ),
            ("{\n \"screens\": {\n \"antenna\": \"behind\"}}", 3, "The antenna is below"),
            ("{\n  \"service_uuid\": \"+fed\"\n}", 2, "A service UUID is four hex digits"),
            ("{\n  \"radio\": \"bluez:hci01\"\n}", 2, "A radio is"),
            ("{\n  \"radio\": \"auto:hci+1\"\n}", 2, "A radio is"),
            ("{\n  \"eid_seconds\": \"5\"\n}", 2, "eid_seconds: This must be a whole number."),
            ("{\n  \"power_cycle\": 1\n}", 2, "power_cycle: This must be true or false."),
            ("{\n  \"proximity\": -40\n}", 2, "proximity: This must be an object."),
            ("[]", 1, "This is not a valid JSON object"),
            ("{\n  \"radio\": \"wifi\"\n}", 2, "A radio is"),
            ("{\n  \"server\": \"ftp://x\"\n}", 2, "A server is"),
            ("{\n\n\n  \"proximity\": {\"tap_enter\": -90}\n}", 4, "Levels are"),
            ("{\n  \"proximity\": {\"certainty\": 2.9}\n}", 2, "certainty is 3 to 10"),
            ("{\n  \"proximity\": {\n    \"tap\": 1\n  }\n}", 3, "tap: There is no setting"),
            ("{\"log_level\": \"loud\"}", 1, "A log level is one of"),
            ("", 1, "This is not a valid JSON object"),
        ]
    )
    func badFile(text: String, line: Int, problem: String) throws {
        let error = #expect(throws: ConfigurationError.self) { try resolve(file: text) }
        #expect(error?.place.hasSuffix("gotchud.json:\(line)") == true, "\(error?.place ?? "")")
        #expect(error?.problem.contains(problem) == true, "\(error?.problem ?? "")")
    }

    @Test("Two equal addresses are refused, because only one of them could be served")
    func equalAddresses() throws {
        func resolved(till: Int, metrics: String) throws -> DaemonConfiguration {
            try resolve(
                file: """
                    {"screens": {"display": "127.0.0.1:7465", "till": "127.0.0.1:\(till)"},
                     "metrics": "\(metrics)"}
                    """
            )
        }
        #expect(try resolved(till: 7466, metrics: "[::1]:7465").screens.till?.port == 7466)
        for (till, metrics, place, other) in [
            (7465, "127.0.0.1:9464", "screens.till", "screens.display"),
            (7466, "127.0.0.1:7465", "screens.display", "metrics"),
            (9464, "127.0.0.1:9464", "screens.till", "metrics"),
        ] {
            let error = #expect(throws: ConfigurationError.self) {
                try resolved(till: till, metrics: metrics)
            }
            #expect(error?.place == place)
            #expect(error?.problem.contains("is the address of \(other)") == true)
        }
        let free = #"{"screens": {"display": "127.0.0.1:0", "till": "127.0.0.1:0"}}"#
        #expect(try resolve(file: free).screens.till?.port == 0)
    }

    @Test("The listed settings show values and defaults, but only the number of user ids")
    func shown() throws {
        let lines = try resolve(file: #"{"spender_uids": [1001, 1002], "service_uuid": "fd6f"}"#)
            .lines.map { "\($0) = \($1)" }
        for line in [
            "spender_uids = 2 users", "service_uuid = fd6f", "eid_seconds = 120", "proxy = (none)",
            "proximity = tap_enter=-46.5,tap_leave=-52.5,near_enter=-62.0,near_leave=-68.0,"
                + "certainty=5.0",
        ] {
            #expect(lines.contains(line), "\(lines)")
        }
    }

    @Test(
        "A bad environment variable is refused with an error that names the variable",
        arguments: [
            ("GOTCHU_SPENDER_UIDS", "1000,ann"), ("GOTCHU_SPENDER_UIDS", "10 00"),
            ("GOTCHU_OBSERVER_UIDS", "x"),
            ("GOTCHU_CASHIER_UIDS", "+1000"), ("GOTCHU_CASHIER_UIDS", "-0"),
            ("GOTCHU_EID_SECONDS", "+60"), ("GOTCHU_SERVICE_UUID", "+fed"),
        ]
    )
    func badVariable(name: String, value: String) throws {
        let error = #expect(throws: ConfigurationError.self) {
            try resolve(environment: [name: value])
        }
        #expect(error?.place == name)
    }

    @Test(
        "An unknown variable with the prefix GOTCHU_ is found, unless it is another program's"
    )
    func unknownVariables() throws {
        let environment = [
            "GOTCHU_SOKET": "/tmp/s", "GOTCHU_": "", "gotchu_socket": "", "HOME": "/root",
            "GOTCHU_SERVER_DATABASE": "sqlite:x", "GOTCHU_SERVER": "http://127.0.0.1:1",
        ]
        let unknown = DaemonConfiguration.unknownVariables(in: environment)
        #expect(unknown == ["GOTCHU_", "GOTCHU_SOKET"])
    }

    @Test(
        "A file counts as missing only if nothing is at its path; a broken link counts as a file"
    )
    func isThere() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("{}", to: "file")
        #expect(ConfigurationFile.exists(file))
        #expect(!ConfigurationFile.exists("\(folder.path)/none"))
        #expect(!ConfigurationFile.exists("\(folder.path)/none/file"))
        #expect(!ConfigurationFile.exists("\(file)/file"))
        let link = "\(folder.path)/link"
        #expect(symlink("\(folder.path)/none", link) == 0)
        #expect(ConfigurationFile.exists(link))
        let loop = "\(folder.path)/loop"
        #expect(symlink(loop, loop) == 0)
        #expect(ConfigurationFile.exists("\(loop)/file"))
    }

    @Test("User ids in a variable may be surrounded by spaces")
    func userIDs() throws {
        let variables = ["GOTCHU_SPENDER_UIDS": "1000, 1001 ,1002"]
        #expect(try resolve(environment: variables).spenderUserIDs == [1000, 1001, 1002])
    }

    @Test(
        "A token file that the group or others may write is refused with the command to fix it"
    )
    func tokenFile() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("token", to: "token")
        for (mode, isRight) in [
            (0o600, true), (0o640, true), (0o644, true), (0o660, false), (0o602, false),
        ] as [(mode_t, Bool)] {
            chmod(file, mode)
            let environment = ["GOTCHU_TOKEN_FILE": file]
            guard !isRight else {
                #expect(try resolve(environment: environment).tokenFile == file)
                continue
            }
            let error = #expect(throws: ConfigurationError.self) {
                try resolve(environment: environment)
            }
            #expect(error?.place == "GOTCHU_TOKEN_FILE")
            #expect(error?.problem.hasSuffix("chmod go-w \(file)") == true)
        }
    }

    @Test("A configuration file that cannot be read is reported with the reason")
    func unreadableFile() throws {
        let folder = try TemporaryFolder()
        for (path, reason) in [
            ("\(folder.path)/none", "No such file or directory"), (folder.path, "it is not a file"),
        ] {
            let error = #expect(throws: ConfigurationError.self) {
                try ConfigurationFile(path: path)
            }
            #expect(error?.place == path)
            #expect(error?.problem == "The file cannot be read: \(reason).")
        }
    }

    @Test(
        "A valid radio setting is parsed, and an invalid one is refused",
        arguments: [
            ("auto", .bluez(adapter: nil, transport: .best)),
            ("auto:hci1", .bluez(adapter: "hci1", transport: .best)),
            ("discovery", nil),
            ("management", .bluez(adapter: nil, transport: .management)),
            ("management:hci2", .bluez(adapter: "hci2", transport: .management)),
            ("management:eth0", nil), ("bluez", .bluez(adapter: nil)),
            ("bluez:hci0", .bluez(adapter: "hci0")),
            ("auto:02:aa:00:00:00:0f", .bluez(adapter: "02:AA:00:00:00:0F", transport: .best)),
            ("bluez:02:AA:00:00:00:0F", .bluez(adapter: "02:AA:00:00:00:0F")),
            ("bluez:02:AA:00:00:00", nil), ("bluez:02:AA:00:00:00:0F:", nil),
            ("bluez:02AA0000000F", nil), ("bluez:02:AA:00:00:00:+F", nil),
            ("bluez:02:AA:00:00:00:0G", nil), ("simulated:02:AA:00:00:00:0F", nil),
            (
                "simulated:/tmp/air@1.5,-2",
                .simulated(folder: "/tmp/air", position: .init(x: 1.5, y: -2))
            ),
            ("simulated:/tmp/air", .simulated(folder: "/tmp/air", position: .init(x: 0, y: 0))),
            ("bluez:eth0", nil), ("simulated:air", nil), ("simulated:/a@b", nil), ("auto:x", nil),
            ("simulated:/a@1e308,0", nil), ("simulated:/a@0,-1e7", nil),
            ("simulated:/a@nan,0", nil), ("simulated:/a@0,inf", nil),
            ("simulated:/a@-1e6,1e6", .simulated(folder: "/a", position: .init(x: -1e6, y: 1e6))),
        ] as [(String, RadioSpecification?)]
    )
    func radios(text: String, expected: RadioSpecification?) {
        #expect(RadioSpecification(text) == expected)
        // The description of a radio is a valid setting for the same radio.
        if let expected { #expect(RadioSpecification("\(expected)") == expected) }
    }

    @Test(
        "A JWT is identified by its subject, another token by itself; outer spaces are removed"
    )
    func identity() {
        // The parts are {"alg":"HS256"}, {"sub":"user-1"} and a signature that this code does not
        // check.
        let token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ1c2VyLTEifQ.c2ln"
        #expect(TokenStore.identity(of: token) == "user-1")
        #expect(TokenStore.identity(of: "opaque") != TokenStore.identity(of: "opaquf"))
        #expect(TokenStore.usable("  abc\n") == "abc")
        #expect(TokenStore.usable("a b") == nil)
        #expect(TokenStore.usable("\n") == nil)
    }
}
