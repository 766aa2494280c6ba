// swift-tools-version: 6.2
// swift-format-ignore-file
import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

let argumentParser = Target.Dependency.product(
    name: "ArgumentParser", package: "swift-argument-parser")
let asyncHTTPClient = Target.Dependency.product(
    name: "AsyncHTTPClient", package: "async-http-client")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let hummingbirdCore = Target.Dependency.product(name: "HummingbirdCore", package: "hummingbird")
let jwtKit = Target.Dependency.product(name: "JWTKit", package: "jwt-kit")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let metrics = Target.Dependency.product(name: "Metrics", package: "swift-metrics")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let nioSSL = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let serviceLifecycle = Target.Dependency.product(
    name: "ServiceLifecycle", package: "swift-service-lifecycle")
let subprocess = Target.Dependency.product(name: "Subprocess", package: "swift-subprocess")
let systemPackage = Target.Dependency.product(name: "SystemPackage", package: "swift-system")
let unixSignals = Target.Dependency.product(
    name: "UnixSignals", package: "swift-service-lifecycle")

/// A module of the house. Imports run one way, down the list in docs/architecture.md.
func module(
    _ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = []
) -> Target {
    .target(name: name, dependencies: dependencies, resources: resources, swiftSettings: strict)
}

func program(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

/// What tests of the whole thing run.
let programs: [Target.Dependency] = ["gotchud", "gotchu-ctl", "gotchu-server"]

let package = Package(
    name: "gotchu",
    products: [
        .executable(name: "gotchud", targets: ["gotchud"]),
        .executable(name: "gotchu-ctl", targets: ["gotchu-ctl"]),
        .executable(name: "gotchu-server", targets: ["gotchu-server"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0", traits: []),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(
            url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(
            url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2", traits: []),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
    ],
    targets: [
        // C as Swift sees it.
        .systemLibrary(
            name: "CDBus", pkgConfig: "dbus-1", providers: [.apt(["libdbus-1-dev"])]),
        .systemLibrary(
            name: "CBluetooth", pkgConfig: "bluez", providers: [.apt(["libbluetooth-dev"])]),
        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(
            name: "CPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .target(name: "CLinux"),

        // Values and decisions, no I/O.
        module("GotchuCore", []),
        module("GotchuAPI", ["GotchuCore"]),

        // What a browser is sent.
        module("Pages", ["GotchuCore"], resources: [.embedInCode("Files")]),

        // Small, safe Swift over C libraries.
        module("DBus", ["CDBus", "CLinux", "GotchuCore", logging]),
        module("SQLite", ["CSQLite"]),
        module("Postgres", ["CLinux", "CPostgres"]),

        // What a service's process needs: output, logs, the service manager; without libsystemd.
        module("ServiceProcess", ["CLinux", "GotchuCore", logging, serviceLifecycle]),

        // Calls to hosts that others run.
        module("OutboundHTTP", ["GotchuCore", asyncHTTPClient, nioCore, nioHTTP1]),

        // Bluetooth.
        module("BlueZ", ["CBluetooth", "DBus", "GotchuCore", logging]),
        module("Radio", ["GotchuCore", serviceLifecycle]),
        module(
            "BlueZRadio",
            ["BlueZ", "CLinux", "DBus", "GotchuCore", "Radio", logging, serviceLifecycle]),

        // Money.
        module(
            "Ledger", ["GotchuCore", "ServiceProcess", crypto, logging, serviceLifecycle]),
        module("Payments", ["GotchuCore", "Ledger"]),
        module("Contests", ["GotchuCore", "Ledger", "Payments", crypto]),
        module("Funding", ["GotchuCore", "Ledger"]),
        module(
            "LedgerStore",
            [
                "GotchuCore", "Ledger", "Postgres", "SQLite", "ServiceProcess", logging,
                serviceLifecycle,
            ]),
        module("Outbox", ["GotchuCore", "Ledger", "LedgerStore"]),
        module("Devices", ["GotchuCore", "Ledger", "LedgerStore"]),
        module("WebSessions", ["GotchuCore", "Ledger", "LedgerStore"]),
        module(
            "PaymentClient",
            [
                "GotchuAPI", "GotchuCore", "OutboundHTTP", asyncHTTPClient, nioCore, nioHTTP1,
                nioPosix, nioSSL,
            ]),
        module(
            "Stripe", ["GotchuCore", "OutboundHTTP", asyncHTTPClient, crypto, nioCore, nioHTTP1]),

        // The daemon's socket.
        module(
            "LocalAPI",
            [
                "CLinux", "GotchuAPI", "GotchuCore", httpTypes, hummingbird, hummingbirdCore,
                logging, nioCore, nioHTTP1, nioPosix, serviceLifecycle,
            ]),

        // The daemon's pages.
        module(
            "Screens",
            [
                "CLinux", "GotchuAPI", "GotchuCore", "LocalAPI", "Pages", httpTypes, hummingbird,
                hummingbirdCore, logging, nioCore, serviceLifecycle,
            ]),

        // The three programs.
        module(
            "GotchuServer",
            [
                "Contests", "Devices", "Funding", "GotchuAPI", "GotchuCore", "Ledger", "LedgerStore", "OutboundHTTP", "Outbox",
                "Pages", "Payments", "ServiceProcess", "Stripe", "WebSessions", argumentParser, asyncHTTPClient, crypto, httpTypes, hummingbird, hummingbirdCore, jwtKit, logging,
                nioCore, nioHTTP1, nioPosix, serviceLifecycle, unixSignals,
            ],
            resources: [.embedInCode("openapi.yaml"), .embedInCode("contests.yaml")]),
        module(
            "GotchuCommands",
            [
                "BlueZ", "CLinux", "DBus", "GotchuAPI", "GotchuCore", "LocalAPI", "Pages",
                "ServiceProcess", argumentParser, logging, subprocess, systemPackage,
            ]),
        module(
            "GotchuDaemon",
            [
                "BlueZ", "BlueZRadio", "CLinux", "GotchuAPI", "GotchuCore", "LocalAPI", "PaymentClient",
                "Pages", "Radio", "Screens", "ServiceProcess", argumentParser, asyncHTTPClient, crypto, logging, nioCore,
                nioPosix, serviceLifecycle, unixSignals,
            ]),
        program("gotchud", ["GotchuDaemon", argumentParser]),
        program("gotchu-ctl", ["GotchuCommands", argumentParser]),
        program("gotchu-server", ["GotchuServer", argumentParser]),

        .target(
            name: "TestSupport", dependencies: ["GotchuCore", logging], path: "Tests/TestSupport",
            swiftSettings: strict),
        tests("ArchitectureTests", []),
        tests("GotchuCoreTests", ["GotchuCore", "TestSupport"]),
        tests("PagesTests", ["GotchuCore", "Pages", "TestSupport"]),
        tests(
            "PaymentClientTests",
            ["GotchuAPI", "GotchuCore", "PaymentClient", "TestSupport", asyncHTTPClient]),
        .target(
            name: "StripeTestSupport",
            dependencies: ["TestSupport", asyncHTTPClient, nioCore, nioHTTP1],
            path: "Tests/StripeTestSupport", swiftSettings: strict),
        tests(
            "StripeTests",
            ["GotchuCore", "Stripe", "StripeTestSupport", "TestSupport", asyncHTTPClient]),
        tests(
            "LocalAPITests",
            ["GotchuAPI", "GotchuCore", "LocalAPI", "TestSupport", nioCore]),
        tests(
            "ScreensTests",
            [
                "GotchuAPI", "Screens", httpTypes, nioCore, nioPosix,
            ]),
        tests("SQLiteTests", ["SQLite", "ServiceProcess", "TestSupport"]),
        .target(
            name: "PostgresTestSupport", dependencies: ["Postgres", "TestSupport"],
            path: "Tests/PostgresTestSupport", swiftSettings: strict),
        tests("PostgresTests", ["Postgres", "PostgresTestSupport", "TestSupport"]),
        .target(
            name: "LedgerTestSupport",
            dependencies: [
                "GotchuCore", "Ledger", "Payments", "TestSupport", logging, serviceLifecycle,
            ],
            path: "Tests/LedgerTestSupport", swiftSettings: strict),
        tests(
            "LedgerTests",
            [
                "GotchuCore", "Ledger", "LedgerTestSupport", "Payments", "TestSupport", logging,
                serviceLifecycle,
            ]),
        tests(
            "FundingTests",
            ["Funding", "GotchuCore", "Ledger", "LedgerTestSupport", "Payments", "TestSupport"]),
        tests(
            "ContestsTests",
            [
                "Contests", "GotchuAPI", "GotchuCore", "Ledger", "LedgerTestSupport", "Payments",
                "TestSupport", logging, serviceLifecycle,
            ]),
        tests(
            "LedgerStoreTests",
            [
                "Devices", "Funding", "GotchuCore", "Ledger", "LedgerStore", "LedgerTestSupport", "Outbox",
                "Payments", "Postgres", "PostgresTestSupport", "SQLite", "TestSupport", "WebSessions",
                logging, serviceLifecycle,
            ]),
        tests(
            "GotchuServerTests",
            [
                "Devices", "Funding", "GotchuAPI", "GotchuCore", "GotchuServer", "Ledger", "LedgerStore",
                "LedgerTestSupport", "Outbox", "Pages", "Payments", "Postgres", "PostgresTestSupport",
                "SQLite", "ServiceProcess", "Stripe", "StripeTestSupport", "TestSupport", "WebSessions",
                "gotchu-server", asyncHTTPClient, httpTypes, hummingbird, hummingbirdCore, logging,
                nioCore, nioHTTP1, nioPosix, serviceLifecycle,
            ]),
        tests(
            "GotchuCommandsTests",
            [
                "BlueZ", "GotchuAPI", "GotchuCommands", "GotchuCore", "LocalAPI", "ServiceProcess",
                "TestSupport",
            ] + programs),
        tests(
            "GotchuDaemonTests",
            [
                "BlueZRadio", "GotchuAPI", "GotchuCore", "GotchuDaemon", "LocalAPI", "Pages",
                "PaymentClient", "Radio", "ServiceProcess", "TestSupport", asyncHTTPClient, logging, nioCore,
                nioHTTP1, serviceLifecycle,
            ]),
        tests(
            "EndToEndTests",
            ["GotchuAPI", "GotchuCore", "LocalAPI", "TestSupport"] + programs),
        tests("PackagingTests", ["TestSupport"] + programs),
        .testTarget(
            name: "VMTests", dependencies: ["TestSupport"] + programs, path: "Tests/VM",
            exclude: ["air", "boot", "guest", "init", "service", "strangers.txt", "tests"],
            swiftSettings: strict),
        .testTarget(
            name: "BrowserTests",
            dependencies: [
                "GotchuAPI", "GotchuCore", "Pages", "PostgresTestSupport", "TestSupport",
            ] + programs,
            path: "Tests/Browser", exclude: ["browser", "goldens"], swiftSettings: strict),

        // A message bus of a test's own, and what stands on it.
        .target(
            name: "BusTestSupport", dependencies: ["CDBus", "DBus", "TestSupport", logging],
            path: "Tests/BusTestSupport", swiftSettings: strict),
        tests("DBusTests", ["BusTestSupport", "CDBus", "DBus", "TestSupport"]),
        tests("BlueZTests", ["BlueZ", "DBus", "GotchuCore", "TestSupport"]),
        tests("RadioTests", ["GotchuCore", "Radio", "TestSupport"]),
        tests(
            "BlueZRadioTests",
            [
                "BlueZ", "BlueZRadio", "BusTestSupport", "DBus", "GotchuCore", "Radio",
                "TestSupport", logging, serviceLifecycle,
            ]),
    ]
)
