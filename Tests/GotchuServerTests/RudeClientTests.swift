import Foundation
import GotchuAPI
import TestSupport
import Testing

@testable import GotchuServer

/// Tests of clients on plain sockets that are slow, send too much or do not use HTTP.
@Suite("Slow and malformed clients")
struct RudeClientTests {
    private struct Outcome: Decodable {
        let status: String
        let closed: Bool
        let seconds: Double
        let reply: String

        /// The status codes of all replies, in order.
        var statuses: [String] {
            reply.matches(of: /HTTP\/1\.[01] ([0-9]{3})/).map { String($0.output.1) }
        }

        /// A Boolean that is true if the last reply is a complete problem document with status 400.
        var isProblem: Bool {
            guard let head = reply.ranges(of: "HTTP/1.1 ").last,
                let gap = reply[head.lowerBound...].firstRange(of: "\r\n\r\n")
            else { return false }
            let fields = reply[head.lowerBound..<gap.lowerBound].lowercased()
            let body = Data(reply[gap.upperBound...].utf8)
            guard let problem = try? JSONDecoder().decode(Problem.self, from: body) else {
                return false
            }
            return fields.contains("content-type: application/problem+json")
                && fields.contains("content-length: \(body.count)")
                && fields.contains("x-request-id: \(problem.requestID ?? "none")")
                && problem.errorCode == .validationError && problem.status == 400
        }
    }

    @Test("Slow and malformed clients are disconnected, and the server keeps running")
    func all() async throws {
        let server = try await ServerProcess()
        let port = try #require(server.wire.base.split(separator: ":").last)
        let rude = try await Python.run("rude.py", [String(port)])
        #expect(try await rude.exitCode(within: .seconds(120)) == 0, "\(rude.text)")
        let outcomes = try JSONDecoder().decode([String: Outcome].self, from: Data(rude.text.utf8))
        #expect(outcomes.count == 41)
        for (name, outcome) in outcomes { #expect(outcome.closed, "\(name)") }
        func status(_ name: String) -> String? { outcomes[name]?.status }
        // A client that does not complete its head or body in time gets no reply.
        for name in ["silent", "half-head", "dripping-head", "half-body", "dripping-body"] {
            #expect(outcomes[name]?.reply == "", "\(name)")
        }
        // A malformed request gets one problem document.
        for name in [
            "long-field", "many-fields", "no-http", "nul-in-field", "no-version", "no-target",
            "space-in-name", "no-length", "bad-chunk", "bad-chunk-later", "two-lengths",
            "length-and-chunks", "long-target", "no-host", "two-hosts", "half-a-host",
            "blank-field", "blank-trailer", "byte-chunks",
        ] {
            #expect(outcomes[name]?.statuses == ["400"], "\(name): \(outcomes[name]?.reply ?? "")")
            #expect(outcomes[name]?.isProblem == true, "\(name): \(outcomes[name]?.reply ?? "")")
        }
        for name in ["long-field", "blank-field", "blank-trailer"] {
            let reply = outcomes[name]?.reply ?? ""
            #expect(reply.contains("The head is too large"), "\(name): \(reply)")
        }
        #expect(outcomes["byte-chunks"]?.reply.contains("too many pieces") == true)
        #expect(outcomes["bad-chunk-unread-body"]?.statuses == ["400"])
        // Earlier requests on the connection are answered first.
        #expect(outcomes["nonsense-behind"]?.statuses == ["200", "200", "400"])
        #expect(outcomes["nonsense-behind"]?.isProblem == true)
        #expect(outcomes["garbage-after-close"]?.statuses == ["200"])
        #expect(outcomes["no-host-behind"]?.statuses == ["200", "400"])
        for name in ["large-body", "endless-body", "unbounded"] {
            #expect(status(name) == "413", "\(name)")
        }
        // A client that uses HTTP/1.0 or asks to close the connection gets one reply and is
        // disconnected.
        for name in ["old", "old-and-stays", "close-in-list"] {
            #expect(outcomes[name]?.statuses == ["200"], "\(name)")
            #expect(outcomes[name]?.seconds ?? 60 < 20, "\(name)")
            #expect(outcomes[name]?.reply.contains("Connection: close") == true, "\(name)")
        }
        #expect(outcomes["old"]?.reply.hasPrefix("HTTP/1.0 200") == true)
        #expect(outcomes["half-body-behind"]?.statuses == ["200", "200"])
        // A request for another protocol does not keep the connection open.
        #expect(outcomes["upgrade"]?.statuses == ["200"] && status("connect") == "404")
        for name in ["upgrade", "connect"] {
            #expect(outcomes[name]?.seconds ?? 60 < 10, "\(name)")
        }
        #expect(status("compressed") == "415")
        #expect(outcomes["expect-continue"]?.statuses == ["100", "400"])
        #expect(status("honest") == "200")
        // A reply to HEAD has no body: the client would read it as the next reply.
        #expect(status("head") == "401")
        #expect(outcomes["head"]?.reply.hasSuffix("\r\n\r\n") == true)
        #expect(try await server.wire.get("/healthz").status == 200)
        #expect(!server.program.text.contains("A request failed."), "\(server.program.text)")
    }

    @Test("A client above the connection limit is answered when another client disconnects")
    func connections() async throws {
        let server = try await ServerProcess(more: ["--connections", "3"])
        let port = try #require(server.wire.base.split(separator: ":").last)
        let held = try Program(
            try await Python.interpreter(),
            [
                "-c",
                """
                import socket, sys, urllib.request
                port = int(sys.argv[1])
                held = []
                for _ in range(3):
                    client = socket.create_connection(("127.0.0.1", port))
                    client.sendall(b"GET /healthz HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n")
                    assert client.recv(4096).startswith(b"HTTP/1.1 200")
                    held.append(client)
                last = socket.create_connection(("127.0.0.1", port))
                last.sendall(b"GET /healthz HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n")
                last.settimeout(2)
                try:
                    assert not last.recv(4096), "it was answered"
                    assert False, "it was closed"
                except TimeoutError:
                    pass
                held.pop().close()
                last.settimeout(30)
                assert last.recv(4096).startswith(b"HTTP/1.1 200")
                print("as it should be")
                """, String(port),
            ]
        )
        #expect(try await held.exitCode() == 0, "\(held.text)")
        #expect(held.text == "as it should be\n")
    }

    @Test("Connections of one address are limited, except for this machine and known proxies")
    func share() throws {
        let proxy = ClientAddress(v4: [10, 0, 0, 1])
        let proxies = try #require(TrustedProxies("10.0.0.1"))
        let counter = ConnectionCounter(limit: 2, exempt: proxies)
        let other = ClientAddress(v4: [10, 0, 0, 2])
        #expect(counter.opened(other) && counter.opened(other) && !counter.opened(other))
        #expect(counter.opened(ClientAddress(v4: [10, 0, 0, 3])))
        counter.closed(other)
        #expect(counter.opened(other) && !counter.opened(other))
        for _ in 0..<10 {
            #expect(counter.opened(proxy) && counter.opened(ClientAddress(v4: [127, 0, 0, 1])))
        }
    }
}
