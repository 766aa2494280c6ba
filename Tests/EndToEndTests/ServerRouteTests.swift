import Foundation
import GotchuAPI
import TestSupport
import Testing

/// Connections to a payment server in a network with a private CA and a proxy.
@Suite("The connection to the payment server")
struct ServerRouteTests {
    /// Starts an HTTP proxy, and returns it with its URL.
    private func proxy(_ arguments: String...) async throws -> (program: Program, url: String) {
        let program = try await Python.run("connect_proxy.py", arguments)
        let url = try await eventually("the proxy listens; it said: \(program.text)") {
            program.text.firstMatch(of: /listening on (\S+)/).map { String($0.1) }
        }
        return (program, url)
    }

    /// Runs `gotchud --check-server`, and returns its reply.
    private func probe(
        _ arguments: String...,
        environment: [String: String] = [:]
    ) async throws -> ServerProbeReply {
        let run = try Program("gotchud", ["--check-server"] + arguments, environment: environment)
        let exitCode = try await run.exitCode()
        let text = try #require(run.text.split(separator: "\n").last, "\(run.text)")
        let reply = try JSONDecoder().decode(ServerProbeReply.self, from: Data(text.utf8))
        #expect(exitCode == (reply.isReachable ? 0 : 75))
        return reply
    }

    @Test("A server is trusted only if its CA is configured, also through a proxy")
    func certificates() async throws {
        let (folder, other) = (try TemporaryFolder(), try TemporaryFolder())
        let (server, stranger) = (
            try await TLSServer(in: folder), try await TLSServer(in: other)
        )
        let (program, proxy) = try await proxy()
        #expect(try await probe("--server", server.url, "--ca-file", server.caFile).isReachable)
        let variables = [
            "GOTCHU_SERVER": server.url, "GOTCHU_CA_FILE": server.caFile, "GOTCHU_PROXY": proxy,
        ]
        #expect(!program.text.contains("CONNECT"))
        #expect(try await probe(environment: variables).isReachable)
        #expect(program.text.contains("CONNECT \(server.url.dropFirst("https://".count))\n"))
        for arguments in [[], ["--ca-file", stranger.caFile]] {
            let run = try Program(
                "gotchud",
                ["--check-server", "--server", server.url] + arguments
            )
            #expect(try await run.exitCode() == 75)
            #expect(run.text.contains("server-untrusted") && run.text.contains("ca_file"))
        }
    }

    @Test("A payment is made through a proxy, and a proxy that refuses or is absent is reported")
    func proxies() async throws {
        let shop = try await Shop()
        let (program, url) = try await proxy()
        let kiosk = Device(name: "kiosk", shop: shop)
        try await kiosk.start(extra: ["--proxy", url])
        let payer = Device(name: "payer", shop: shop)
        let file = try shop.folder.write(#"{"proxy": "\#(url)"}"#, to: "payer.json")
        try await payer.start(at: "1,0", extra: ["--config", file])
        try await kiosk.logIn()
        try await payer.logIn()
        let request: RequestView = try await kiosk.call(
            "POST",
            "/v1/requests",
            NewRequest(amountCents: 700)
        )
        let wish = NewPayment(sid: request.id, confirmAmountCents: 700)
        let payment: PaymentView = try await payer.call("POST", "/v1/payments", wish)
        #expect(try await end(of: payment, on: payer).state == .paid)
        let target = "CONNECT \(shop.url.dropFirst("http://".count))\n"
        #expect(program.text.components(separatedBy: target).count > 2, "\(program.text)")

        let strict = try await proxy("403")
        let refused = try await probe("--server", shop.url, "--proxy", strict.url)
        #expect(refused.problem?.code == "server-refused-by-proxy")
        #expect(strict.program.text.contains(target))
        program.signal(SIGKILL)
        try await program.exitCode()
        let dead = try await probe("--server", shop.url, "--proxy", url)
        #expect(dead.problem?.code == "server-unreachable")
        #expect(dead.problem?.text.contains("through the proxy \(url)") == true)
        #expect(dead.problem?.fix.contains("--proxy \(url) ") == true)
    }

    @Test("A missing or invalid CA file ends gotchud with 78, and the message names the file")
    func wrongFile() async throws {
        let folder = try TemporaryFolder()
        for (text, problem) in [
            (nil, "The file cannot be read: No such file or directory."),
            ("", "The file has something else in it than certificates in PEM."),
            ("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "something else"),
        ] {
            let file = "\(folder.path)/ca.pem"
            if let text { _ = try folder.write(text, to: "ca.pem") }
            for arguments in [["--check-config"], []] {
                let run = try Program("gotchud", ["--ca-file", file] + arguments)
                #expect(try await run.exitCode() == 78)
                #expect(run.text.hasPrefix("gotchud: \(file): "), "\(run.text)")
                #expect(run.text.contains(problem), "\(run.text)")
            }
        }
    }
}
