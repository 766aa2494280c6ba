import Testing

/// The house's one rule of imports: down this list and never up.
@Suite("Imports run one way")
struct ImportTests {
    /// What each of our modules may import of our own.
    private let allowed: [String: Set<String>] = [
        "CDBus": [], "CBluetooth": [], "CSQLite": [], "CPostgres": [],
        "CLinux": [],
        "GotchuCore": [],
        "GotchuAPI": ["GotchuCore"],
        "DBus": ["CDBus", "CLinux", "GotchuCore"],
        "SQLite": ["CSQLite"],
        "Postgres": ["CLinux", "CPostgres"],
        "ServiceProcess": ["CLinux", "GotchuCore"],
        "BlueZ": ["CBluetooth", "DBus", "GotchuCore"],
        "Radio": ["BlueZ", "CLinux", "DBus", "GotchuCore"],
        "Ledger": ["GotchuCore", "Postgres", "SQLite", "ServiceProcess"],
        "OutboundHTTP": [],
        "PaymentClient": ["GotchuAPI", "GotchuCore", "OutboundHTTP"],
        "LocalAPI": ["CLinux", "GotchuAPI", "GotchuCore"],
        "GotchuServer": ["GotchuAPI", "GotchuCore", "Ledger", "OutboundHTTP", "ServiceProcess"],
        "GotchuCommands": [
            "BlueZ", "CLinux", "DBus", "GotchuAPI", "GotchuCore", "LocalAPI", "ServiceProcess",
        ],
        "GotchuDaemon": [
            "BlueZ", "CLinux", "GotchuAPI", "GotchuCore", "LocalAPI", "PaymentClient", "Radio",
            "ServiceProcess",
        ],
        "gotchud": ["GotchuDaemon"],
        "gotchu-ctl": ["GotchuCommands"],
        "gotchu-server": ["GotchuServer"],
    ]

    @Test("no module imports one above it")
    func oneWay() throws {
        for file in try SourceTree("Sources").files {
            let ours = file.imports.intersection(allowed.keys)
            let permitted = try #require(allowed[file.module], "unknown module \(file.module)")
            #expect(ours.subtracting(permitted).isEmpty, "\(file.path)")
        }
    }

    @Test(
        "decisions do no I/O: their modules import no library but Essentials"
    )
    func pureModules() throws {
        let pure = try SourceTree("Sources").files.filter {
            $0.module == "GotchuCore" || $0.path.hasPrefix("Sources/Ledger/Decisions/")
        }
        #expect(!pure.isEmpty)
        for file in pure {
            let others = file.imports.subtracting(["GotchuCore", "FoundationEssentials", "Glibc"])
            #expect(others.isEmpty, "\(file.path): \(others)")
        }
    }

    @Test("no module of gotchud or gotchu-ctl imports full Foundation")
    func essentialsOnly() throws {
        for file in try SourceTree("Sources").files {
            #expect(!file.imports.contains("Foundation"), "\(file.path)")
        }
    }
}
