import Foundation
import GotchuAPI
import GotchuCore
import TestSupport
import Testing

@Suite("Without a daemon, gotchu-ctl says what is wrong and what to do")
struct AbsentDaemonTests {
    @Test("A command whose socket is missing exits with 69 and says how to start the daemon")
    func noSocket() async throws {
        let run = try await GotchuCtl.run(["status"])
        #expect(run.code == 69)
        #expect(run.out.isEmpty)
        #expect(run.err.contains("there is no socket at /nonexistent/gotchud.sock"))
        #expect(run.next == "→ gotchud --socket /nonexistent/gotchud.sock")
    }

    @Test("A command whose socket has no listener exits with 69 and says that nobody listens")
    func refused() async throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/g.sock"
        close(CannedPeer.listen(at: path))
        let run = try await GotchuCtl.run(["status"], socket: path)
        #expect(run.code == 69)
        #expect(run.err.contains("nobody listens on the socket"))
    }

    @Test("A command reports a file in the socket's place, and does not suggest to start a daemon")
    func noSocketThere() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("", to: "g.sock")
        let run = try await GotchuCtl.run(["status"], socket: path)
        #expect(run.code == 69)
        #expect(run.err.contains("what is at \(path) is not a socket"))
        #expect(run.next == "→ ls -ld \(path)")
        let doctor = try await GotchuCtl.run(["doctor"], socket: path)
        let finding = "✗ socket         What is at \(path) is not a socket.\n  → ls -ld "
        #expect(doctor.out.contains(finding))
    }

    @Test(
        "A command that may not open its socket exits with 77 and suggests `namei` for the reason",
        .enabled(if: getuid() == 0 && access("/usr/bin/setpriv", X_OK) == 0)
    )
    func notPermitted() async throws {
        let folder = try TemporaryFolder()
        // The folder is open to everybody, so only the socket's mode denies access.
        chmod(folder.path, 0o755)
        let path = "\(folder.path)/g.sock"
        let descriptor = CannedPeer.listen(at: path)
        defer { close(descriptor) }
        chmod(path, 0o660)
        let program = try GotchuCtl.asNobody(["status", "--socket", path])
        #expect(try await program.exitCode() == 77)
        #expect(program.text.contains("User 65534 may not open the socket"))
        #expect(program.text.hasSuffix("namei -l \(path)\n"))
    }

    @Test("A command whose daemon dies before the answer exits with 69")
    func connectionLost() async throws {
        let peer = try CannedPeer("")
        let run = try await GotchuCtl.run(["status"], socket: peer.socket)
        #expect(run.code == 69)
        #expect(run.err.contains("stopped before it had answered"))
    }

    @Test("A refund whose daemon dies before the answer exits with 75: its outcome is unknown")
    func unknownOutcome() async throws {
        let peer = try CannedPeer("")
        let run = try await GotchuCtl.run(["refund", "some-id", "5", "--yes"], socket: peer.socket)
        #expect(run.code == 75)
        #expect(run.err.contains("gotchud has not answered: it may be refunding."))
        #expect(run.next == "→ gotchu-ctl history")
    }

    @Test("A refund whose daemon dies after the answer waits until the timeout and exits with 75")
    func goneAtOnce() async throws {
        let reply = try Self.refund(.sending)
        let peer = try CannedPeer([reply]) { _, path in unlink(path) }
        let arguments = ["refund", "some-id", "5", "--yes", "--timeout", "1"]
        let run = try await GotchuCtl.run(arguments, socket: peer.socket)
        #expect(run.code == 75)
        #expect(run.err.contains("gotchud has gone away; waiting for it to come back …"))
        #expect(run.err.contains("It is not known yet whether $5.00 was refunded."), "\(run.err)")
    }

    @Test("A refund that the login may not make exits with 77")
    func forbidden() async throws {
        let peer = try CannedPeer(try Self.refund(.declined, code: "FORBIDDEN"))
        let run = try await GotchuCtl.run(["refund", "some-id", "5", "--yes"], socket: peer.socket)
        #expect(run.code == 77)
        #expect(run.err.contains("Not refunded: It is on its way."), "\(run.err)")
    }

    /// The reply with a refund in a state.
    private static func refund(_ state: PaymentView.State, code: String? = nil) throws -> String {
        let refund = PaymentView(
            id: "r-1",
            kind: .refund,
            state: state,
            sid: try #require(SessionID(rawValue: "some-id")),
            eid: nil,
            amountCents: 500,
            currency: .usd,
            payee: "Ann",
            createdAt: .now,
            updatedAt: .now,
            code: code,
            detail: "It is on its way.",
            nextStep: nil,
            newBalanceCents: nil,
            transferID: nil
        )
        let body = String(decoding: try JSONEncoder().encode(refund), as: UTF8.self)
        return CannedPeer.reply("202 Accepted", body: body)
    }

    @Test("A command whose daemon hangs exits with 75 after five seconds")
    func timeout() async throws {
        let peer = try CannedPeer(nil)
        let start = ContinuousClock.now
        let run = try await GotchuCtl.run(["status"], socket: peer.socket)
        #expect(run.code == 75)
        #expect(run.err.contains("did not answer within 5 seconds"))
        #expect(start.duration(to: .now) >= .seconds(5))
    }

    @Test(
        "A command whose peer uses another protocol or version exits with 76",
        arguments: [
            "SSH-2.0-OpenSSH_9.2\r\n",
            CannedPeer.reply("200 OK", api: "2", body: "{}"),
            CannedPeer.reply("200 OK", api: nil, body: "{}"),
            CannedPeer.reply("200 OK", body: "{\"is_ready\":\"perhaps\"}"),
            CannedPeer.reply("500 Oops", body: "<html>"),
        ]
    )
    func mismatch(reply: String) async throws {
        let peer = try CannedPeer(reply)
        let run = try await GotchuCtl.run(["status"], socket: peer.socket)
        #expect(run.code == 76, "\(run.err)")
        #expect(run.next.hasPrefix("→ "))
    }

    @Test("A command whose path is too long for a socket address exits with 78")
    func pathTooLong() async throws {
        let run = try await GotchuCtl.run(
            ["status", "--socket", "/tmp/" + String(repeating: "x", count: 200)])
        #expect(run.code == 78)
    }

    @Test(
        "A token is sent only to a listener whose user owns the socket's folder",
        .enabled(if: geteuid() == 0 && access("/usr/bin/setpriv", X_OK) == 0)
    )
    func foreignListener() async throws {
        let folder = try TemporaryFolder()
        #expect(chmod(folder.path, 0o777) == 0)
        let socket = "\(folder.path)/g.sock"
        let token = try folder.write("a.b.c", to: "token")
        let listen = """
            import socket, sys
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(sys.argv[1])
            listener.listen()
            print("listens", flush=True)
            while True:
                print("heard", listener.accept()[0].recv(4096), flush=True)
            """
        let stranger = try Program(
            "/usr/bin/setpriv",
            [
                "--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/python3", "-c",
                listen, socket,
            ]
        )
        try await eventually("the listener is ready; it said: \(stranger.text)") {
            stranger.text.contains("listens") ? true : nil
        }
        let login = ["login", "--token-file", token]
        let refused = try await GotchuCtl.run(login, socket: socket)
        #expect(refused.code == 77, "\(refused.err)")
        #expect(refused.err.contains("belongs to user 65534"), "\(refused.err)")
        try await eventually("the listener has heard nothing") {
            stranger.text.contains("heard b''") ? true : nil
        }
        #expect(chown(folder.path, 65534, 65534) == 0)
        let sent = try await GotchuCtl.run(login, socket: socket)
        #expect(sent.code != 77, "\(sent.err)")
        #expect(stranger.text.contains("POST /v1/login"), "\(stranger.text)")
    }

    @Test("A command exits with 70 on the daemon's internal error, and names the daemon's version")
    func bug() async throws {
        let body =
            #"{"type":"about:blank","title":"Internal Server Error","status":500,"#
            + #""detail":"gotchud failed to answer.","error":"x","code":"INTERNAL_ERROR"}"#
        let peer = try CannedPeer(CannedPeer.reply("500 Internal Server Error", body: body))
        let run = try await GotchuCtl.run(["status"], socket: peer.socket)
        #expect(run.code == 70)
        #expect(run.err.contains("Note: gotchud is 9.9.9"))
        #expect(run.err.contains("gotchud failed to answer."))
        #expect(run.next == "→ gotchu-ctl doctor")
    }

    @Test("With --json, a failure is an object on standard output and text on standard error")
    func jsonFailure() async throws {
        let run = try await GotchuCtl.run(["wallet", "--json"])
        #expect(run.code == 69)
        let error = try #require(try run.json()["error"] as? [String: Any])
        #expect(error["code"] as? String == "NO_SOCKET")
        #expect(error["exit_code"] as? Int == 69)
        #expect(error["fix"] is String)
        #expect(!run.err.isEmpty)
    }

    @Test("A wait for an absent daemon ends with 75 after the timeout")
    func waitTimesOut() async throws {
        let run = try await GotchuCtl.run(["wait", "--for", "ready", "--timeout", "0.5"])
        #expect(run.code == 75)
        #expect(run.next == "→ gotchu-ctl doctor")
    }

    @Test("The doctor works without a daemon, reports its layers and exits with 1")
    func doctor() async throws {
        let run = try await GotchuCtl.run(["doctor"])
        #expect(run.code == 1)
        // The line of a finding is a mark, its layer and the text.
        let lines = run.out.split(separator: "\n").map { $0.dropFirst(2) }
        for layer in ["configuration", "socket", "daemon", "bus", "server", "clock", "login"] {
            #expect(lines.contains { $0.hasPrefix("\(layer) ") }, "\(layer): \(run.out)")
        }
        #expect(run.out.contains("→ gotchud --socket /nonexistent/gotchud.sock"))
    }

    @Test(
        "The doctor reports the kernel's adapters to an ordinary user as to root, before the bus",
        .enabled(if: getuid() == 0 && access("/usr/bin/setpriv", X_OK) == 0)
    )
    func kernelUnprivileged() async throws {
        let program = try GotchuCtl.asNobody(["doctor", "--json"])
        #expect(try await program.exitCode() == 1)
        let report = try JSONSerialization.jsonObject(with: Data(program.text.utf8))
        let findings = try #require((report as? [String: Any])?["findings"] as? [[String: Any]])
        let layers = findings.compactMap { $0["layer"] as? String }
        let kernel = try #require(layers.firstIndex(of: "kernel"))
        #expect(kernel < (layers.firstIndex(of: "bus") ?? 0))
        let asRoot = try await GotchuCtl.run(["doctor", "--json"]).json()
        let same = (asRoot["findings"] as? [[String: Any]])?.first {
            $0["layer"] as? String == "kernel"
        }
        #expect(findings[kernel]["text"] as? String == same?["text"] as? String)
    }
}
