import Foundation
import GotchuAPI
import GotchuCore
import LocalAPI
import TestSupport
import Testing

/// Recordings that are made in a shop and replayed at a developer's desk.
@Suite("Recording and replay")
struct RecordingTests {
    @Test("A recording has other EIDs than the daemon heard, and a daemon can replay its file")
    func recorded() async throws {
        let shop = try await Shop()
        let (kiosk, payer) = try await shop.pair(payerAt: "0.1,0")
        let request: RequestView = try await kiosk.call(
            "POST",
            "/v1/requests",
            NewRequest(amountCents: 100)
        )
        try await eventually("the request is heard") { try await payer.verdict(on: request.eid) }
        let file = "\(shop.folder.path)/shop.ndjson"
        let arguments =
            ["record", file, "--seconds", "300", "--note", "held, at 10 cm"]
            + ["--socket", payer.socket]
        let record = try Program("gotchu-ctl", arguments)
        try await eventually("ten sightings are recorded; the command said: \(record.text)") {
            sightings(in: file) >= 10 ? true : nil
        }
        record.signal(SIGTERM)
        #expect(try await record.exitCode() == 0, "\(record.text)")

        let text = try String(contentsOfFile: file, encoding: .utf8)
        // The command does not count the header.
        let count = text.split(separator: "\n").count - 1
        #expect(record.text.contains("Recorded \(count) lines to "), "\(record.text)")
        #expect(!text.contains("\(request.eid)"))
        #expect(text.hasPrefix("{") && text.hasSuffix("}\n"))
        #expect(text.contains(#""gotchu_recording":1"#))
        #expect(text.contains(#""note":"held, at 10 cm""#))
        let attributes = try FileManager.default.attributesOfItem(atPath: file)
        #expect(attributes[.posixPermissions] as? Int == 0o600)

        // An existing file is not overwritten.
        let again = try Program("gotchu-ctl", arguments)
        #expect(try await again.exitCode() == 74, "\(again.text)")
        #expect(
            again.text == "gotchu-ctl: \(file) is there already, and is not written over.\n"
                + "→ gotchu-ctl --socket \(payer.socket) record ANOTHER-FILE\n"
        )
        #expect(try String(contentsOfFile: file, encoding: .utf8) == text)
        let nowhere = "\(shop.folder.path)/none/shop.ndjson"
        let lost = try Program("gotchu-ctl", ["record", nowhere, "--socket", payer.socket])
        #expect(try await lost.exitCode() == 74, "\(lost.text)")
        #expect(lost.text.hasSuffix("→ ls -ld \(shop.folder.path)/none/\n"), "\(lost.text)")

        let desk = Device(name: "desk", shop: shop)
        try await desk.start(extra: ["--radio", "replay:\(file)"])
        try await eventually("the replay ends") {
            let status = try await desk.get("/v1/status", as: StatusReply.self)
            return status.health.contains { $0.code == "replay-ended" } ? status : nil
        }
        let page = try await metrics(of: desk)
        let ours = #"gotchu_adverts_total{reason="service_data",result="ours"} "#
        #expect(page.contains("\(ours)\(sightings(in: file))\n"), "\(page)")
    }

    @Test("A recording makes the daemon listen, and ends after its time if nothing is heard")
    func silence() async throws {
        let kiosk = try await Shop().daemon("kiosk", at: "0,0")
        let lines = try await LocalClient(socketPath: kiosk.socket).withRecording(seconds: 1) {
            lines in
            var count = 0
            while try await lines.next() != nil { count += 1 }
            return count
        }
        // The lines are the header and two radio states: not listening, and listening.
        #expect(lines == 3)
    }

    /// Starts a daemon that replays sightings of one EID.
    ///
    /// - Parameter sightings: The level of each sighting in dBm, and the pause after it.
    private static func replay(
        _ shop: Shop,
        _ sightings: [(milliseconds: Int, level: Int)]
    ) async throws -> Device {
        var lines = [
            #"{"gotchu_recording":1,"version":"0","radio":"bluez","adapter":"hci0","#
                + #""started_at":"2026-11-21T09:30:00.000Z","policy":{"tap_enter":-45,"#
                + #""tap_leave":-55,"near_enter":-60,"near_leave":-68}}"#
        ]
        var time = 0
        for sighting in sightings {
            lines.append(
                #"{"at_us":\#(time * 1000),"eid":"a1b2c3d4e5","carrier":"service_data","#
                    + #""rssi_dbm":\#(sighting.level)}"#
            )
            time += sighting.milliseconds
        }
        let text = lines.joined(separator: "\n") + "\n"
        let file = try shop.folder.write(text, to: "shop.ndjson")
        let desk = Device(name: "desk", shop: shop)
        try await desk.start(extra: ["--radio", "replay:\(file)"])
        return desk
    }

    @Test("The presence of a replayed approach is far, then at tap, and is lost at the end")
    func history() async throws {
        let shop = try await Shop()
        let desk = try await Self.replay(shop, (0..<100).map { (100, $0 < 50 ? -85 : -40) })
        let history = try await LocalClient(socketPath: desk.socket).withEvents(sessions: true) {
            events in
            var history: [Verdict?] = []
            while history.last != .some(nil), let event = try await events.next() {
                switch event {
                case .snapshot(let snapshot):
                    history += snapshot.sessions.map { .some($0.verdict) }
                case .presenceChanged(let presence) where history.last != presence.verdict:
                    history.append(presence.verdict)
                case .presenceLost: history.append(nil)
                default: break
                }
            }
            return history
        }
        #expect(history == [.far, .tap, nil] || history == [.far, .near, .tap, nil])
        // A daemon that replays a recording cannot advertise, so it refuses requests.
        try await desk.logIn()
        await #expect {
            try await desk.call("POST", "/v1/requests", NewRequest(amountCents: 1)) as RequestView
        } throws: { $0 is Problem }
    }

    @Test("A level that changes quickly is published at most 13 times in 2 s, with its last value")
    func levels() async throws {
        let shop = try await Shop()
        let calm = (0..<8).map { _ in (milliseconds: 1000, level: -85) }
        let desk = try await Self.replay(shop, calm + (0..<200).map { (10, $0 < 199 ? -75 : -71) })
        let levels = try await LocalClient(socketPath: desk.socket).withEvents(sessions: true) {
            events in
            var levels: [Int?] = []
            while let event = try await events.next() {
                if case .presenceChanged(let presence) = event, presence.rssiDBm != -85 {
                    levels.append(presence.rssiDBm)
                }
                if case .presenceLost = event { break }
            }
            return levels
        }
        #expect(levels.last == -71)
        // The level changes for two seconds.
        #expect((2...13).contains(levels.count), "\(levels)")
    }

    @Test("A damaged or missing recording ends the daemon with 78, and the message names the file")
    func damaged() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("{\"gotchu_recording\":1}\n", to: "bad.ndjson")
        for radio in ["replay:\(file)", "replay:\(folder.path)/none"] {
            for check in [["--check-config"], []] {
                let gotchud = try Program(
                    "gotchud",
                    ["--radio", radio, "--socket", "\(folder.path)/s", "--state", folder.path]
                        + check
                )
                #expect(try await gotchud.exitCode() == 78, "\(gotchud.text)")
                let place =
                    radio.hasSuffix("none")
                    ? "none: The recording cannot be read: No such file" : "bad.ndjson:1: "
                #expect(gotchud.text.contains(place), "\(gotchud.text)")
            }
        }
    }

    private func sightings(in file: String) -> Int {
        let text = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").count { $0.contains("\"eid\"") }
    }

    private func metrics(of device: Device) async throws -> String {
        let curl = try Program(
            "/usr/bin/curl",
            ["--silent", "--unix-socket", device.socket, "http://gotchu/metrics"]
        )
        _ = try await curl.exitCode()
        return curl.text
    }
}
