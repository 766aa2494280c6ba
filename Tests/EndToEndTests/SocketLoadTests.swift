import Foundation
import GotchuAPI
import GotchuCore
import LocalAPI
import TestSupport
import Testing

/// Clients that are slow, faulty or numerous, while the daemon must serve other clients.
@Suite("Bad clients of the daemon's socket")
struct SocketLoadTests {
    /// Connections that stay open until this object is released.
    private final class Held: Sendable {
        let descriptors: [Int32]

        /// Sends `text` on each of `count` connections, and reads nothing.
        init(_ count: Int, to device: Device, saying text: String) throws {
            descriptors = try (0..<count).map { _ in
                let descriptor = try #require(UnixHTTP.connected(to: device.socket))
                let sent = text.withCString {
                    send(descriptor, $0, strlen($0), Int32(MSG_NOSIGNAL))
                }
                #expect(sent == text.utf8.count)
                return descriptor
            }
        }

        deinit {
            for descriptor in descriptors { close(descriptor) }
        }
    }

    @Test(
        "Readers that never read, unfinished requests and silent connections do not stop payments"
    )
    func crowd() async throws {
        let shop = try await Shop()
        let (kiosk, payer) = try await shop.pair()
        let events = "GET /v1/events HTTP/1.1\r\nHost: gotchu\r\n\r\n"
        let half = "POST /v1/requests HTTP/1.1\r\nHost: gotchu\r\nContent-Length: 60000\r\n\r\n{"
        let held = [
            try Held(100, to: kiosk, saying: events), try Held(40, to: kiosk, saying: half),
            try Held(40, to: kiosk, saying: "GET /v1/sta"), try Held(20, to: kiosk, saying: ""),
            try Held(1, to: kiosk, saying: "X-Long: " + String(repeating: "a", count: 60_000)),
        ]
        try await eventually("a hundred clients are readers") {
            let metrics = try await Metrics(of: kiosk)
            return metrics["gotchu_event_readers"] == 100 ? true : nil
        }
        for amount in [Int64(300), 400] {
            let request: RequestView = try await kiosk.call(
                "POST",
                "/v1/requests",
                NewRequest(amountCents: amount)
            )
            let payment: PaymentView = try await payer.call(
                "POST",
                "/v1/payments",
                NewPayment(eid: request.eid, confirmAmountCents: amount)
            )
            #expect(try await end(of: payment, on: payer).state == .paid)
            try await eventually("the kiosk learns of the payment") {
                let view = try await kiosk.get("/v1/requests/\(request.id)", as: RequestView.self)
                return view.state == .paid ? true : nil
            }
        }
        let memory = try #require(try await Metrics(of: kiosk)["process_resident_memory_bytes"])
        withExtendedLifetime(held) {}
        // The limit is `MemoryMax=` of the systemd unit. The kernel kills a daemon that uses more.
        #expect(memory < Double(128 << 20), "\(memory) bytes")
    }

    /// Starts a daemon that hears 3,000 EIDs in 3 s, after 3 s of silence for a reader to connect.
    private static func crowded(_ shop: Shop) async throws -> Device {
        var lines = [
            #"{"gotchu_recording":1,"version":"0","radio":"bluez","adapter":"hci0","#
                + #""started_at":"2026-11-21T09:30:00.000Z","policy":{"tap_enter":-45,"#
                + #""tap_leave":-55,"near_enter":-60,"near_leave":-68}}"#
        ]
        for index in 0..<3000 {
            let eid = String(format: "%010x", index)
            lines.append(
                #"{"at_us":\#(3_000_000 + index * 1000),"eid":"\#(eid)","#
                    + #""carrier":"service_data","rssi_dbm":-80}"#
            )
        }
        let file = try shop.folder.write(lines.joined(separator: "\n") + "\n", to: "crowd.ndjson")
        let device = Device(name: "crowded", shop: shop)
        try await device.start(extra: ["--radio", "replay:\(file)"])
        return device
    }

    @Test("A reader that pauses gets all events in order, except those that are reported as lost")
    func pause() async throws {
        let shop = try await Shop()
        // The Python environment that parses metrics is ready before the 3 s of silence begin.
        _ = try await Python.interpreter()
        let device = try await Self.crowded(shop)
        let start = try await Metrics(of: device)
        try #require(start["gotchu_presences"] == 0)
        try await LocalClient(socketPath: device.socket).withEvents(sessions: true) { events in
            guard case .snapshot? = try await events.next() else {
                Issue.record("The first event is not a snapshot")
                return
            }
            let before = try #require(try await Metrics(of: device)["gotchu_events_total"])
            let (published, dropped) = try await eventually("all EIDs of the replay are gone") {
                let status = try await device.get("/v1/status", as: StatusReply.self)
                guard status.health.contains(where: { $0.code == "replay-ended" }) else {
                    return nil as (Double, Double)?
                }
                let metrics = try await Metrics(of: device)
                guard metrics["gotchu_presences"] == 0,
                    let dropped = metrics["gotchu_events_dropped_total"],
                    let published = metrics["gotchu_events_total"]
                else { return nil }
                return (published, dropped)
            }
            #expect(dropped > 0)
            var (told, lost, newest) = (0, 0, -1)
            // The daemon sends the count of lost events after the other events, at the latest with
            // the next keep-alive. The events published before `before` was read arrive too.
            while Double(told + lost) < published - before, let event = try await events.next() {
                switch event {
                case .lagged(let count): lost += count
                case .presenceChanged(let presence):
                    told += 1
                    let index = try #require(Int("\(presence.eid)", radix: 16))
                    // The replay contains each EID once, in ascending order.
                    #expect(index >= newest)
                    newest = max(newest, index)
                default: told += 1
                }
            }
            #expect(told > 0 && lost > 0)
        }
    }

    @Test("A reader that hangs up makes room for another reader at once")
    func hangUp() async throws {
        let shop = try await Shop()
        let kiosk = try await shop.daemon("kiosk", at: "0,0")
        // Each round opens the maximum of readers, before a keep-alive could find the closed ones.
        for round in 1...3 {
            let events = "GET /v1/events HTTP/1.1\r\nHost: gotchu\r\n\r\n"
            let held = try Held(128, to: kiosk, saying: events)
            try await eventually("128 clients are readers in round \(round)", within: .seconds(9)) {
                try await Metrics(of: kiosk)["gotchu_event_readers"] == 128 ? true : nil
            }
            withExtendedLifetime(held) {}
        }
    }

    @Test("The daemon raises its file limit, so that it accepts 248 connections of a user")
    func openFiles() async throws {
        let shop = try await Shop()
        let device = Device(name: "kiosk", shop: shop)
        try await device.start(through: ["/usr/bin/prlimit", "--nofile=256:4096"])
        let events = "GET /v1/events HTTP/1.1\r\nHost: g\r\n\r\n"
        let held = [
            try Held(128, to: device, saying: events), try Held(120, to: device, saying: "GET /"),
        ]
        try await eventually("all connections are open", within: .seconds(9)) {
            let metrics = try await Metrics(of: device)
            let connections = metrics["gotchu_local_connections"] ?? 0
            return metrics["gotchu_event_readers"] == 128 && connections > 248 ? true : nil
        }
        withExtendedLifetime(held) {}
    }

    @Test("A user's flood of connections is limited, and silent connections are closed")
    func flood() async throws {
        let shop = try await Shop()
        let device = try await shop.daemon("kiosk", at: "0,0")
        let flood = try Held(300, to: device, saying: "")
        // The daemon closes connections over the limit at once, and the others after a silence.
        let last = try #require(flood.descriptors.last)
        var byte: UInt8 = 0
        try await eventually("the last connection is closed") {
            recv(last, &byte, 1, Int32(MSG_DONTWAIT)) == 0 ? true : nil
        }
        let first = try #require(flood.descriptors.first)
        try await eventually("the first connection is closed too") {
            recv(first, &byte, 1, Int32(MSG_DONTWAIT)) == 0 ? true : nil
        }
        let metrics = try await Metrics(of: device)
        #expect(try #require(metrics["gotchu_local_refusals_total"]) >= 1)
        let status = try await device.get("/v1/status", as: StatusReply.self)
        #expect(status.radio.adapter == "simulated")
    }

    @Test(
        "A flood of connections of one user does not stop another user's call",
        .enabled(if: geteuid() == 0, "only root can become somebody else")
    )
    func others() async throws {
        let shop = try await Shop()
        let device = Device(name: "kiosk", shop: shop)
        let file = try shop.folder.write(#"{"observer_uids": [65001]}"#, to: "kiosk.json")
        try await device.start(extra: ["--config", file])
        let flood = try Held(300, to: device, saying: "GET /v1/sta")
        #expect(try await device.curl(as: 65001, "/v1/status").contains("is_ready"))
        withExtendedLifetime(flood) {}
    }

    @Test(
        "Three users with as many connections as possible do not stop the owner's calls",
        .enabled(if: geteuid() == 0, "only root can become somebody else")
    )
    func reserve() async throws {
        let shop = try await Shop()
        let device = Device(name: "kiosk", shop: shop)
        let users = [65001, 65002, 65003]
        let file = try shop.folder.write(#"{"cashier_uids": \#(users)}"#, to: "kiosk.json")
        try await device.start(extra: ["--config", file])
        // The daemon must answer the owner's calls while all these connections are open.
        let crowd = try users.map { try device.hold(240, as: $0) }
        let refusals = try await eventually("more than a hundred connections are refused") {
            let found = try await Metrics(of: device)["gotchu_local_refusals_total"]
            return found.map { $0 > 100 ? $0 : nil } ?? nil
        }
        #expect(refusals > 100)
        for program in crowd { #expect(program.isRunning) }
        let status = try await device.get("/v1/status", as: StatusReply.self)
        #expect(status.radio.adapter == "simulated")
    }

    @Test("A connection whose body arrives byte by byte is closed after a time limit")
    func drippingBody() async throws {
        let shop = try await Shop()
        let device = try await shop.daemon("kiosk", at: "0,0")
        let connection = try #require(UnixHTTP.connected(to: device.socket))
        defer { close(connection) }
        let head = "POST /v1/requests HTTP/1.1\r\nHost: gotchu\r\nContent-Length: 60000\r\n\r\n"
        func say(_ text: String) -> Bool {
            text.withCString { send(connection, $0, strlen($0), Int32(MSG_NOSIGNAL)) >= 0 }
        }
        #expect(say(head))
        // The probe sends a byte about every 20 ms, so no limit on silence closes the connection.
        try await eventually("the daemon closes the connection") { say(" ") ? nil : true }
    }

    @Test(
        "Unknown users share sixteen connections, whatever the number of their user ids",
        .enabled(if: geteuid() == 0, "only root can become somebody else")
    )
    func strangers() async throws {
        let shop = try await Shop()
        let device = try await shop.daemon("kiosk", at: "0,0")
        // As on a file system without lists of users.
        chmod(device.socket, 0o666)
        let crowd = try (65001...65004).map { try device.hold(15, as: $0) }
        try await eventually("44 of 60 connections are refused") {
            let metrics = try await Metrics(of: device)
            return metrics["gotchu_local_refusals_total"] == Double(4 * 15 - 16) ? true : nil
        }
        for program in crowd { #expect(program.isRunning) }
        let status = try await device.get("/v1/status", as: StatusReply.self)
        #expect(status.radio.adapter == "simulated")
    }
}
