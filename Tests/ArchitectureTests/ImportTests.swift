import Testing

/// Tests that each module imports only the modules and libraries that it may import.
@Suite("The imports between modules")
struct ImportTests {
    /// The modules of this package that each module may import.
    private let allowed: [String: Set<String>] = [
        "CDBus": [], "CBluetooth": [], "CSQLite": [], "CPostgres": [],
        "CLinux": [],
        "GotchuCore": [],
        "GotchuAPI": ["GotchuCore"],
        "Pages": ["GotchuCore"],
        "DBus": ["CDBus", "CLinux", "GotchuCore"],
        "SQLite": ["CSQLite"],
        "Postgres": ["CLinux", "CPostgres"],
        "ServiceProcess": ["CLinux", "GotchuCore"],
        "BlueZ": ["CBluetooth", "DBus", "GotchuCore"],
        "Radio": ["GotchuCore"],
        "BlueZRadio": ["BlueZ", "CLinux", "DBus", "GotchuCore", "Radio"],
        "Ledger": ["GotchuCore", "ServiceProcess"],
        "Payments": ["GotchuCore", "Ledger"],
        "Contests": ["GotchuCore", "Ledger", "Payments"],
        "Funding": ["GotchuCore", "Ledger"],
        "LedgerStore": ["GotchuCore", "Ledger", "Postgres", "SQLite", "ServiceProcess"],
        "Outbox": ["GotchuCore", "Ledger", "LedgerStore"],
        "Devices": ["GotchuCore", "Ledger", "LedgerStore"],
        "WebSessions": ["GotchuCore", "Ledger", "LedgerStore"],
        "OutboundHTTP": ["GotchuCore"],
        "PaymentClient": ["GotchuAPI", "GotchuCore", "OutboundHTTP"],
        "Stripe": ["GotchuCore", "OutboundHTTP"],
        "LocalAPI": ["CLinux", "GotchuAPI", "GotchuCore"],
        "Screens": ["CLinux", "GotchuAPI", "GotchuCore", "LocalAPI", "Pages"],
        "GotchuServer": [
            "Contests", "Devices", "Funding", "GotchuAPI", "GotchuCore", "Ledger", "LedgerStore",
            "OutboundHTTP", "Outbox", "Pages", "Payments", "ServiceProcess", "Stripe",
            "WebSessions",
        ],
        "GotchuCommands": [
            "BlueZ", "CLinux", "DBus", "GotchuAPI", "GotchuCore", "LocalAPI", "Pages",
            "ServiceProcess",
        ],
        "GotchuDaemon": [
            "BlueZ", "BlueZRadio", "CLinux", "GotchuAPI", "GotchuCore", "LocalAPI",
            "Pages", "PaymentClient", "Radio", "Screens", "ServiceProcess",
        ],
        "gotchud": ["GotchuDaemon"],
        "gotchu-ctl": ["GotchuCommands"],
        "gotchu-server": ["GotchuServer"],
    ]

    @Test("No module imports a module of this package that the list does not permit")
    func oneWay() throws {
        for file in try SourceTree("Sources").files {
            let ours = file.imports.intersection(allowed.keys)
            let permitted = try #require(allowed[file.module], "unknown module \(file.module)")
            #expect(ours.subtracting(permitted).isEmpty, "\(file.path)")
        }
    }

    /// The folders of values and decisions, and the libraries that each may import.
    private static let pure: [(folder: String, libraries: Set<String>)] = [
        ("GotchuCore/", ["FoundationEssentials", "Glibc"]),
        ("Ledger/Accounts/", decisions), ("Ledger/Audit/", decisions),
        ("Ledger/Commands/", decisions), ("Ledger/Records/", decisions), ("Payments/", decisions),
        ("Contests/", decisions.union(["Payments"])),
        ("Funding/", decisions),
    ]

    private static let decisions: Set = [
        "Crypto", "FoundationEssentials", "GotchuCore", "Ledger", "Synchronization",
    ]

    @Test("The code of values and decisions imports only libraries without I/O")
    func pureModules() throws {
        let files = try SourceTree("Sources").files
        for (folder, libraries) in Self.pure {
            let inside = files.filter { $0.path.hasPrefix("Sources/\(folder)") }
            #expect(!inside.isEmpty, "\(folder)")
            for file in inside {
                let others = file.imports.subtracting(libraries)
                #expect(others.isEmpty, "\(file.path): \(others)")
            }
        }
    }

    @Test("No source file imports full Foundation")
    func essentialsOnly() throws {
        for file in try SourceTree("Sources").files {
            #expect(!file.imports.contains("Foundation"), "\(file.path)")
        }
    }
}
