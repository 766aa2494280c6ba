import Foundation
import GotchuCore
import TestSupport
import Testing

@testable import GotchuAPI

/// Tests of docs/local-api.md, the reference for programmers of tills.
@Suite("The document of the daemon's socket")
struct LocalAPIDocumentTests {
    private let document: String

    init() throws {
        document = try Self.text("docs/local-api.md")
    }

    private static func text(_ path: String) throws -> String {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        return try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    /// The document's shell examples, in order.
    private var examples: [String] {
        document.matches(of: #/```sh\n([^`]*)```/#).map { String($0.output.1) }
    }

    @Test("The document names every route with its level, and no other")
    func routes() throws {
        let source = try Self.text("Sources/LocalAPI/Server/LocalRoutes.swift")
        let routes = source.matches(of: /\(\.(\w+), \.(\w+), "([^"]+)"[,)]/)
        let display = try Self.text("Sources/LocalAPI/Server/DisplayRoutes.swift")
            .matches(of: /table\.add(?:Stream)?\(level, \.get, "([^"]+)"\)/)
        #expect(routes.count > 15 && display.count == 2)
        for route in display { #expect(document.contains("\n| `GET \(route.1)` | observer | ")) }
        for route in routes {
            let row = "\n| `\(route.2.uppercased()) \(route.3)` | \(route.1) | "
            #expect(document.contains(row), "\(row)")
        }
        #expect(document.matches(of: #/\n\| `[A-Z]+ /[^`]+` \| \w+ \|/#).count == routes.count + 2)
    }

    @Test("Each code in the document has its right status, and no code of the daemon is missing")
    func codes() throws {
        var named: Set<ErrorCode> = []
        for row in document.matches(of: #/\n\| `([A-Z_]+)` \| ([0-9]+) \|/#) {
            let code = try #require(ErrorCode(rawValue: String(row.output.1)), "\(row.output.0)")
            #expect(Int(row.output.2) == code.httpStatus, "\(code)")
            named.insert(code)
        }
        let own: Set<ErrorCode> = [
            .notPermitted, .browserRefused, .notLoggedIn, .payeeChanged, .notNear, .ambiguous,
            .paymentInProgress, .radioUnavailable, .serverUnreachable, .journalUnwritable,
            .outcomeUnknown,
        ]
        #expect(own.isSubset(of: named))
    }

    @Test("The document names every member of every body, and every health code")
    func members() throws {
        let bodies = [
            "Local/Calibrations", "Local/Display", "Local/Event", "Local/LocalLogin",
            "Local/Payments", "Local/Presence", "Local/Refunds", "Local/Requests", "Local/Status",
            "Server/Wallet",
        ]
        var names: Set<String> = []
        for body in bodies {
            let source = try Self.text("Sources/GotchuAPI/\(body).swift")
            for keys in source.matches(of: #/enum CodingKeys: [^{]*\{([^}]*)\}/#) {
                for line in keys.output.1.matches(of: #/case ([^\n]+)/#) {
                    for key in line.output.1.split(separator: ",") {
                        let words = key.split(separator: "=")
                        names.insert(String(words[words.count - 1].filter { !" \"".contains($0) }))
                    }
                }
            }
        }
        #expect(names.isSuperset(of: ["amount_cents", "eid", "smoothed_dbm", "is_ready"]))
        let known = try Self.text("Sources/GotchuDaemon/Status/HealthItem+Known.swift")
            .matches(of: /code: "([a-z-]+)"/).map { String($0.output.1) }
        let radio = try Self.text("Sources/Radio/RadioFailure.swift")
            .matches(of: /case \w+ = "([a-z-]+)"/).map { String($0.output.1) }
        #expect(known.count > 5 && radio.count > 10)
        for name in names.union(known + radio) {
            #expect(document.firstMatch(of: try Regex("`\(name)[`:]")) != nil, "\(name)")
        }
    }

    @Test("The document's examples work as written: request, pay, refund, follow and cancel")
    func typed() async throws {
        let examples = examples
        try #require(examples.count == 5)
        let (requestExample, cancelExample) = (examples[0], examples[1])
        let (followExample, payExample, refundExample) = (examples[2], examples[3], examples[4])
        let function = try #require(
            requestExample.split(separator: "\n").first { $0.hasPrefix("gotchu()") }
        )
        let shop = try await Shop()
        let (kiosk, payer) = try await shop.pair()
        func run(_ lines: String, on device: Device) async throws -> String {
            let script = "set -e; cd \(shop.folder.path)\n\(function)\n\(lines)"
            let shell = try Program(
                "/bin/bash",
                ["-c", script],
                environment: ["GOTCHU_SOCKET": device.socket]
            )
            #expect(try await shell.exitCode() == 0, "\(shell.text)")
            return shell.text
        }
        #expect(try await run(requestExample, on: kiosk).contains(#""state":"advertising""#))
        let request = try #require(
            try await kiosk.get("/v1/requests", as: RequestsReply.self).requests.first
        )
        try await eventually("the payer hears the request near") {
            let verdict = try await payer.verdict(on: request.eid)
            return verdict == .near || verdict == .tap ? true : nil
        }
        #expect(try await run(payExample, on: payer).contains("available_cents"))
        let wishes = try await payer.get("/v1/payments", as: PaymentsReply.self).payments
        #expect(try await end(of: try #require(wishes.first), on: payer).state == .paid)
        let id = "id=\(request.id)\n"
        let refund = try await run(id + refundExample, on: kiosk)
        #expect(refund.contains(#""kind":"refund""#), "\(refund)")
        // The event stream never ends by itself, so the script kills curl. `exec` gives curl the
        // process id in `$reader`. SIGKILL works although the test process blocks some signals.
        let seen = try await run(
            """
            \(function.replacing("curl", with: "exec curl"))
            \(followExample.split(separator: "\n")[0]) --max-time 50 >events & reader=$!
            until [ -s events ]; do sleep 0.1; done
            kill -KILL $reader; cat events
            """,
            on: kiosk
        )
        #expect(seen.hasPrefix(#"{"event":"snapshot""#), "\(seen)")
        let open = try await run(requestExample + cancelExample, on: kiosk)
        #expect(open.contains(#""state":"cancelled""#), "\(open)")
        #expect(try await shop.verify().exitCode == 0)
    }
}
