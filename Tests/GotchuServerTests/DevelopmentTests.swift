import Foundation
import TestSupport
import Testing

/// Tests that a development server accepts only local logins and only its own database.
@Suite("A development server")
struct DevelopmentTests {
    private static let body = #"{"email":"a@shop.example"}"#

    @Test(
        "Logins and metrics are refused through a proxy and for a host name that is not loopback",
        arguments: [
            ("Forwarded", "for=203.0.113.9"), ("X-Forwarded-For", "203.0.113.9"),
            ("X-Forwarded-For", "127.0.0.1"), ("X-Real-IP", "203.0.113.9"),
            ("Host", "rebind.example"), ("Host", "rebind.example:8080"), ("Host", "127.0.0.1.x"),
            ("Host", "localhost.example"), ("Host", "[::2]:80"), ("Host", "128.0.0.1"),
        ]
    )
    func strangers(name: String, value: String) async throws {
        let server = try await ServerProcess()
        let login = try await server.wire.call(
            "POST",
            "/auth/dev-login",
            Self.body,
            headers: [name: value]
        )
        #expect(login.code == "FORBIDDEN")
        let metrics = try await server.wire.call("GET", "/metrics", headers: [name: value])
        #expect(metrics.code == "FORBIDDEN")
    }

    @Test("Logins for loopback hosts are accepted, and --open-metrics shows metrics to everybody")
    func names() async throws {
        let server = try await ServerProcess()
        for host in ["localhost", "LOCALHOST:80", "127.0.0.1", "127.9.9.9:1", "[::1]", "[::1]:1"] {
            let login = try await server.wire.call(
                "POST",
                "/auth/dev-login",
                Self.body,
                headers: ["Host": host]
            )
            #expect(login.status == 200, "\(host): \(login.text)")
        }
        let open = try await ServerProcess(more: ["--open-metrics"])
        for headers in [["Host": "pay.example"], ["X-Forwarded-For": "192.0.2.1"]] {
            let page = try await open.wire.call("GET", "/metrics", headers: headers)
            #expect(page.status == 200, "\(headers)")
        }
    }

    @Test(
        "A --dev server refuses a shop's database, and a normal server refuses a --dev database",
        arguments: DatabaseKind.single
    )
    func databases(kind: DatabaseKind) async throws {
        let (folder, other) = (try TemporaryFolder(), try TemporaryFolder())
        let shop = try kind.makeDatabase(in: folder).address
        #expect(try await ServerProcess.run("migrate", "--database", shop).code == 0)
        let added = try await ServerProcess.run("devices", "add", "Till", "--database", shop)
        #expect(added.code == 0, "\(added.text)")
        let dev = try await ServerProcess.run(
            "--dev",
            "--listen",
            "127.0.0.1:0",
            "--database",
            shop
        )
        #expect(dev.code == 78 && dev.text.contains("these books have users who cannot"))
        let devDatabase = try kind.makeDatabase(in: other).address
        let server = try await ServerProcess(database: devDatabase)
        _ = try await server.wire.login("a")
        #expect(try await server.stop() == 0)
        // A device that a developer adds does not make this a shop's database.
        let tried = try await ServerProcess.run("devices", "add", "Till", "--database", devDatabase)
        #expect(tried.code == 0, "\(tried.text)")
        let again = try await ServerProcess(database: devDatabase)
        #expect(try await again.stop() == 0)
        let normalServer = try await ServerProcess.run(
            "--listen",
            "127.0.0.1:0",
            "--database",
            devDatabase
        )
        #expect(
            normalServer.code == 78 && normalServer.text.contains("books of a development server")
        )
    }
}
