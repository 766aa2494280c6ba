import Foundation
import GotchuAPI
import GotchuCore
import TestSupport
import Testing

/// Contests that are run with `gotchu-ctl`, gotchud and the server.
@Suite("A contest from end to end")
struct ContestTests {
    private static let template = "01999f00-0000-7000-8000-000000000002"

    /// Runs a `gotchu-ctl contest` command with a device's daemon, and waits for its end.
    private func contest(
        _ device: Device,
        _ arguments: String...,
        failing status: Int32 = 0
    ) async throws -> String {
        let program = try start(device, arguments)
        let code = try await program.exitCode(within: .seconds(90))
        #expect(code == status, "\(arguments): \(program.text)")
        return program.text
    }

    private func start(_ device: Device, _ arguments: [String]) throws -> Program {
        try Program(
            "gotchu-ctl",
            ["contest"] + arguments,
            environment: ["GOTCHU_SOCKET": device.socket, "LC_ALL": "C.UTF-8"]
        )
    }

    private func detail(_ device: Device, _ id: String) async throws -> ContestDetail {
        try await device.get("/v1/contests/\(id)", as: ContestDetail.self)
    }

    private func people(_ shop: Shop, _ names: String...) async throws -> [Device] {
        var devices: [Device] = []
        for name in names {
            let device = try await shop.daemon(name, at: "\(devices.count * 5),0")
            try await device.logIn()
            devices.append(device)
        }
        return devices
    }

    private func create(_ device: Device, fee: String, _ more: String...) async throws -> String {
        let arguments =
            [
                "create", "Friday night", "--template", Self.template, "--fee", fee, "--locks",
                "+1h", "--json",
            ] + more
        let made = try start(device, arguments)
        #expect(try await made.exitCode() == 0, "\(made.text)")
        let id = try JSONDecoder().decode(ContestDetail.self, from: Data(made.text.utf8)).id
        return id.description
    }

    @Test("An organiser runs a contest from the shell, from its draft to its settlement")
    func story() async throws {
        let shop = try await Shop(more: ["--contests"])
        let all = try await people(shop, "ann", "bob", "cat", "dan", "eve")
        let (ann, bob, cat) = (all[0], all[1], all[2])
        let id = try await create(
            ann,
            fee: "5.00",
            "--places",
            "3",
            "--prize",
            "10",
            "--rake",
            "10",
            "--tiers",
            "50,30,20",
            "--review",
            "0"
        )
        // Another user cannot see the draft. A contest with an added prize is published only with
        // `--yes`.
        #expect(try await contest(bob, "show", id, failing: 1).contains("contest list"))
        #expect(try await contest(ann, "publish", id, failing: 64).contains("--yes"))
        _ = try await contest(ann, "publish", id, "--yes")
        #expect(try await ann.balance() == 9_000)
        #expect(try await contest(bob, "list").contains(id))
        #expect(try await contest(ann, "invite", id).contains("\(shop.url)/contests/\(id)"))

        try await enter(all, id)
        try await score(ann, id)
        let waiting = try start(bob, ["wait", id, "--json"])
        _ = try await contest(ann, "complete", id)
        try await settle(ann, cat, id, waiting)
        var balances: [Int64] = []
        for device in all { balances.append(try await device.balance()) }
        #expect(balances == [9_150, 10_205, 10_675, 10_000, 9_970])
        #expect(try await shop.verify().exitCode == 0)
    }

    /// Fills the three places. A fourth entrant waits until one of them is free.
    private func enter(_ all: [Device], _ id: String) async throws {
        let (ann, bob, cat, dan, eve) = (all[0], all[1], all[2], all[3], all[4])
        #expect(try await contest(ann, "join", id, "--yes", failing: 1).contains("show \(id)"))
        for device in [bob, cat, dan] {
            #expect(try await contest(device, "join", id, "--yes").contains("$5.00 charged"))
        }
        #expect(try await contest(bob, "join", id, "--yes", failing: 1).contains("You are in"))
        #expect(try await contest(eve, "join", id, "--yes", failing: 1).contains("All 3 places"))
        // Eve gets the place that Dan leaves.
        let late = try start(eve, ["join", id, "--yes", "--wait-for-place"])
        try await eventually("the contest is full: \(late.text)") {
            late.text.contains("trying again in 2 seconds") ? true : nil
        }
        #expect(try await contest(dan, "leave", id, "--yes").contains("$5.00 is back"))
        #expect(try await late.exitCode() == 0, "\(late.text)")
        #expect(try await dan.balance() == 10_000)
        #expect(try await eve.balance() == 9_500)
    }

    private func settle(
        _ ann: Device,
        _ cat: Device,
        _ id: String,
        _ waiting: Program
    ) async throws {
        // The server settles the contest at once, because its review takes 0 s. The call that
        // settles it again succeeds.
        let settled = try await eventually("the contest is settled") {
            try await detail(ann, id).state == .paid
                ? try await contest(ann, "settle", id, "--yes") : nil
        }
        for line in ["pool $23.50", "organiser $1.50", "$11.75", "$7.05", "$4.70"] {
            #expect(settled.contains(line), "\(line): \(settled)")
        }
        #expect(try await contest(cat, "settlement", id) == settled)
        #expect(try await waiting.exitCode() == 0)
        for word in ["\"payout_cents\" : 705", "\"rank\" : 2", "\"state\" : \"PAID\""] {
            #expect(waiting.text.contains(word), "\(waiting.text)")
        }
        let told = try await contest(cat, "wait", id)
        #expect(told.contains("rank 1 of 3, you won $11.75."), "\(told)")
    }

    /// Writes scores, and checks that calls fail if they are too early, outdated or invalid.
    private func score(_ ann: Device, _ id: String) async throws {
        let board = try await contest(ann, "board", id)
        #expect(board.contains("ENTRY") && board.contains("3 entries"), "\(board)")
        #expect(try await contest(ann, "score", id, "1=1", failing: 1).contains("lock \(id)"))
        _ = try await contest(ann, "lock", id)
        _ = try await contest(ann, "complete", id, failing: 1)
        let table = "\(ann.socket).csv"
        try Data("entry,points,seconds\n1,42,10\n2,38,11\n4,40,12\n".utf8)
            .write(to: URL(fileURLWithPath: table))
        #expect(try await contest(ann, "score", id, "--csv", table).contains("revision 1"))
        #expect(try await contest(ann, "score", id, "2=45").contains("revision 2"))
        let stale = try await contest(ann, "score", id, "1=0", "--base", "1", failing: 1)
        #expect(stale.contains("contest board \(id)"), "\(stale)")
        #expect(try await contest(ann, "score", id, "9=1", failing: 65).contains("entry_number"))
        #expect(try await contest(ann, "score", id, "--csv", "/nonexistent", failing: 74) != "")
    }

    @Test("A cancelled contest refunds its fees, and `contest wait` exits with 1")
    func cancelled() async throws {
        let shop = try await Shop(more: ["--contests"])
        let all = try await people(shop, "ann", "bob")
        let (ann, bob) = (all[0], all[1])
        let id = try await create(ann, fee: "20")
        _ = try await contest(ann, "publish", id)
        _ = try await contest(bob, "join", id, "--yes")
        #expect(try await bob.balance() == 8_000)
        let waiting = try start(bob, ["wait", id])
        try await eventually("bob's command waits") {
            waiting.text.contains("scheduled …") ? true : nil
        }
        _ = try await contest(ann, "cancel", id, "It rains", "--yes")
        _ = try await contest(ann, "cancel", id, "It rains", "--yes")
        #expect(try await waiting.exitCode() == 1)
        #expect(waiting.text.contains("was cancelled: $20.00 went back"), "\(waiting.text)")
        #expect(try await bob.balance() == 10_000)
        _ = try await contest(ann, "delete", id)
        #expect(try await contest(ann, "list", "--mine").contains(id) == false)
        let patient = try await contest(bob, "wait", id, failing: 1)
        #expect(patient.contains("was cancelled"))

        let dear = try await create(ann, fee: "250.00", "--description", "Dear")
        _ = try await contest(ann, "publish", dear)
        let poor = try await contest(bob, "join", dear, "--yes", failing: 1)
        #expect(poor.contains("You need $150.00 more"), "\(poor)")
        #expect(poor.contains("gotchu-ctl wallet add 150.00"), "\(poor)")
        #expect(try await contest(bob, "wait", dear, "--timeout", "1", failing: 75) != "")
        #expect(try await shop.verify().exitCode == 0)
    }

    @Test("An entrant objects once to a result; a second objection is refused with the reason")
    func objection() async throws {
        let shop = try await Shop(more: ["--contests"])
        let all = try await people(shop, "ann", "bob")
        let (ann, bob) = (all[0], all[1])
        let id = try await create(ann, fee: "5")
        _ = try await contest(ann, "publish", id)
        _ = try await contest(bob, "join", id, "--yes")
        _ = try await contest(ann, "lock", id)
        _ = try await contest(ann, "score", id, "1=42")
        _ = try await contest(ann, "complete", id)
        #expect(try await contest(bob, "object", id, "No").contains("sees your objection"))
        let again = try await contest(bob, "object", id, "No", failing: 1)
        #expect(again.contains("You have objected to this result already"), "\(again)")
    }

    @Test("An invitation to a private contest works until another invitation replaces it")
    func invited() async throws {
        let shop = try await Shop(more: ["--contests"])
        let all = try await people(shop, "ann", "bob")
        let (ann, bob) = (all[0], all[1])
        let id = try await create(ann, fee: "0", "--invite-only", "--prize", "1")
        _ = try await contest(ann, "publish", id, "--yes")
        let old = try #require(try await detail(ann, id).joinToken.value)
        #expect(try await contest(ann, "invite", id).contains("?join_token=\(old)"))
        _ = try await contest(bob, "show", id, failing: 1)
        let shown = try await contest(bob, "show", id, "--invitation", old)
        #expect(shown.contains("Entry fee") && shown.contains("Friday night"), "\(shown)")
        #expect(try await contest(ann, "invite", id, "--renew").contains(old) == false)
        _ = try await contest(bob, "join", id, "--yes", "--invitation", old, failing: 1)
        let new = try #require(try await detail(ann, id).joinToken.value)
        _ = try await contest(bob, "join", id, "--yes", "--invitation", new)
        #expect(try await detail(bob, id).userHasEntered)
        #expect(try await contest(ann, "lock", id).contains("locked, with 1 entry"))
        _ = try await contest(bob, "leave", id, "--yes", failing: 1)
    }

    @Test("An entrant whose daemon is killed during the entry is in the contest and charged once")
    func killed() async throws {
        let shop = try await Shop(more: ["--contests"])
        let all = try await people(shop, "ann", "bob")
        let (ann, bob) = (all[0], all[1])
        let id = try await create(ann, fee: "5")
        _ = try await contest(ann, "publish", id)
        let lock = try await Program.locking("\(shop.folder.path)/books.db")
        let joining = try start(bob, ["join", id, "--yes", "--json"])
        try await eventually("the log has the start of the order") {
            try bob.log().contains("An order was started") ? true : nil
        }
        try bob.signal(SIGKILL)
        _ = try await bob.exitCode()
        try await bob.start(at: "5,0")
        // The user cannot log out while the order is open.
        await #expect {
            let _: StatusReply = try await bob.call("DELETE", "/v1/login", nil as String?)
        } throws: {
            ($0 as? Problem)?.errorCode == .paymentInProgress
        }
        lock.signal(SIGKILL)
        let end = try await joining.exitCode()
        let log = try bob.log()
        #expect(end == 0, "\(joining.text) \(log)")
        #expect(try await detail(bob, id).entryCount.value == 1)
        #expect(try await bob.balance() == 9_500)
        #expect(try await shop.verify().exitCode == 0)
    }

    @Test(
        "The socket relays a contest's ETag and language, and refuses unknown ids and invalid joins"
    )
    func relay() async throws {
        let shop = try await Shop(more: ["--contests"])
        let ann = try await people(shop, "ann")[0]
        let id = try await create(ann, fee: "5")
        func curl(_ path: String, _ arguments: String...) async throws -> String {
            let curl = try Program(
                "/usr/bin/curl",
                ["-s", "-i", "--unix-socket", ann.socket, "http://gotchu/v1/contests\(path)"]
                    + arguments
            )
            try await curl.exitCode()
            return curl.text
        }
        let german = try await curl("/\(id)", "-H", "Accept-Language: de")
        #expect(german.contains("Veröffentlichen"), "\(german)")
        let tag = try #require(german.firstMatch(of: /(?i)etag: ("[^"]+")/)?.output.1)
        let same = ["-H", "Accept-Language: de", "-H", "If-None-Match: \(tag)"]
        let again = try await curl("/\(id)", same[0], same[1], same[2], same[3])
        #expect(again.hasPrefix("HTTP/1.1 304"), "\(again)")
        #expect(try await curl("/x").contains("CONTEST_NOT_FOUND"))
        let other = "01999f00-0000-7000-8000-0000000000ff"
        let unknown = try await curl("/\(other)")
        #expect(unknown.contains("\"error_code\":\"CONTEST_NOT_FOUND\""), "\(unknown)")
        let keyless = try await curl("/\(id)/join", "-d", #"{"entry_fee_cents":500}"#)
        #expect(keyless.contains("IDEMPOTENCY_KEY_REQUIRED"), "\(keyless)")
        let card = #"{"entry_fee_cents":500,"use_wallet":false}"#
        let key = "Idempotency-Key: 0123456789abcdef"
        #expect(try await curl("/\(id)/join", "-d", card, "-H", key).contains("VALIDATION_ERROR"))
        #expect(try await curl("/\(id)", "-X", "DELETE").hasPrefix("HTTP/1.1 204"))
    }

    @Test(
        "The shell has different errors for a server without contests and for an invalid reply"
    )
    func absent() async throws {
        let shop = try await Shop()
        let ann = try await people(shop, "ann")[0]
        #expect(try await contest(ann, "list", failing: 1).contains("There is nothing at"))
        let odd = try OddServer()
        defer { odd.stop() }
        let body = #"{"contests":[{"id":"x"}],"contract":1,"limit":25,"total_count":1}"#
        odd.answer(
            Array("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)".utf8)
        )
        let lost = Device(name: "lost", shop: shop)
        let token = try shop.folder.write("a.b.c", to: "lost-token")
        chmod(token, 0o600)
        try await lost.start(
            extra: ["--server", "http://127.0.0.1:\(odd.port)", "--token-file", token]
        )
        let told = try await contest(lost, "list", failing: 70)
        #expect(told.contains("not a valid contest document"), "\(told)")
    }
}
