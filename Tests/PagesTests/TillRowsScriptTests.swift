import Foundation
import TestSupport
import Testing

@testable import Pages

@Suite("The rows of the till's script")
struct TillRowsScriptTests {
    /// The result of the script's function `look` for a request.
    private struct Look: Decodable {
        var state: String
        var left: Int
        var action: String?
        var notes: [String]
    }

    private func look(
        _ request: String,
        refunds: String = "[]",
        mayRefund: Bool = true
    ) async throws -> Look {
        let base = #"{id: "a", amount_cents: 800, currency: "usd", created_at: "2026-11-24"}"#
        let script = """
            const request = {...\(base), ...\(request)}
            const refunds = \(refunds).map((refund) => ({sid: "a", ...refund}))
            console.log(JSON.stringify(look(request, refunds, \(mayRefund))))
            """
        return try JSONDecoder().decode(Look.self, from: Data(try await run(script).utf8))
    }

    /// Returns the output of a script that is appended to the rows' script.
    private func run(_ script: String) async throws -> String {
        let folder = try TemporaryFolder()
        let rows = String(decoding: PackageResources.till_rows_js, as: UTF8.self)
        _ = try folder.write(
            String(decoding: PackageResources.money_js, as: UTF8.self),
            to: "money.mjs"
        )
        let source = rows.replacing("./money.js", with: "./money.mjs") + script
        let node = try Program("/usr/bin/node", [try folder.write(source, to: "rows.mjs")])
        #expect(try await node.exitCode() == 0, "\(node.text)")
        return node.text
    }

    @Test("A page that is open for a year keeps the newest 200 views, and all that are open")
    func year() async throws {
        let script = """
            const views = new Map()
            // A clock that was ahead does not make an old view newer.
            for (let id = 0; id < 100_000; id += 1) {
              const state = id < 3 ? ["locked", "unknown", "advertising"][id] : "paid"
              store(views, {id, state, created_at: id < 500 ? "2030" : "2026"})
            }
            const kept = [...views.keys()]
            store(views, {id: 1, state: "paid"})
            store(views, {id: 100_000, state: "advertising"})
            console.log(JSON.stringify([kept.length, kept[2], kept[3], views.size, views.has(1)]))
            """
        #expect(try await run(script) == "[200,2,99803,200,false]\n")
        let open = """
            const views = new Map()
            for (let id = 0; id < 300; id += 1) store(views, {id, state: "advertising"})
            const open = views.size
            for (let id = 0; id < 300; id += 1) store(views, {id, state: "cancelled"})
            console.log(open, views.size)
            """
        #expect(try await run(open) == "300 200\n")
    }

    @Test("A request with an unknown outcome has a warning and no action")
    func unknown() async throws {
        let row = try await look(#"{state: "unknown"}"#)
        #expect(row.action == nil && row.notes.count == 1)
        #expect(row.notes.first?.contains("Hand nothing out before this says Paid") == true)
    }

    @Test("Only an open request can be cancelled, and only a till with the right can refund")
    func actions() async throws {
        for state in ["advertising", "locked"] {
            #expect(try await look("{state: '\(state)', is_on_air: true}").action == "cancel")
        }
        for state in ["expired", "cancelled"] {
            #expect(try await look("{state: '\(state)'}").action == nil)
        }
        #expect(try await look("{state: 'paid', tip_cents: 100}").left == 900)
        #expect(try await look("{state: 'paid'}").action == "refund")
        #expect(try await look("{state: 'paid'}", mayRefund: false).action == nil)
    }

    @Test("An open refund prevents another, a declined refund is shown, the rest is refundable")
    func refunds() async throws {
        let paid = "{state: 'paid'}"
        let open = try await look(paid, refunds: "[{state: 'unknown', amount_cents: 800}]")
        #expect(open.action == nil && open.state == "paid" && open.notes.count == 1)
        let refused = "[{state: 'declined', amount_cents: 800, detail: 'Too little money.'}]"
        let declined = try await look(paid, refunds: refused)
        #expect(declined.action == "refund" && declined.left == 800)
        #expect(declined.notes == ["Not refunded: Too little money."])
        let part = try await look(paid, refunds: "[{state: 'paid', amount_cents: 300}]")
        #expect(part.state == "refunded" && part.left == 500 && part.action == "refund")
        let all = try await look(paid, refunds: "[{state: 'paid', amount_cents: 800}]")
        #expect(all.state == "refunded" && all.left == 0 && all.action == nil)
        // The session's total of refunds includes the refunds of this machine.
        let elsewhere = "{state: 'paid', refunded_cents: 500}"
        let both = try await look(elsewhere, refunds: "[{state: 'paid', amount_cents: 300}]")
        #expect(both.state == "refunded" && both.left == 300 && both.action == "refund")
        #expect(try await look("{state: 'paid', refunded_cents: 800}").action == nil)
        let other = "[{sid: 'b', state: 'paid', amount_cents: 800}]"
        #expect(try await look(paid, refunds: other).left == 800)
    }
}
