import BusTestSupport
import DBus
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import GotchuCore

/// A load test of the real daemon on a private bus: 1,000 advertisements a second from 100,000
/// random addresses, for five seconds times `effort`.
@Suite("A daemon in a crowd")
struct AdvertLoadTests {
    private static let perBatch = 100
    private static let batch: Duration = .milliseconds(100)
    private static let addresses = 100_000

    private static let seconds = 5 * effort

    /// The test's shared state: the EID that is at the device now, the end of the test and the
    /// number of advertisements that were sent.
    private final class Script: Sendable {
        let near = Mutex(EID.random())
        let isOver = Mutex(false)
        let sent = Mutex(0)
    }

    @Test("Each near till is found, memory grows little, and a slow reader is told of lost events")
    func crowd() async throws {
        let bus = try PrivateBus()
        let bluez = try await CrowdedBlueZ(on: bus)
        let folder = try TemporaryFolder()
        let socket = folder.path + "/g.sock"
        let daemon = try Program(
            "gotchud",
            [
                "--socket", socket, "--state", folder.path + "/state", "--radio", "bluez:hci0",
                "--server", "http://127.0.0.1:9",
            ],
            environment: ["DBUS_SYSTEM_BUS_ADDRESS": bus.address.text]
        )
        let slow = try await reader(of: socket, daemon)
        defer { close(slow) }
        await bluez.scanned()
        let script = Script()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await Self.crowd(bluez, script) }
            group.addTask {
                defer { script.isOver.withLock { $0 = true } }
                try await Self.tapAgainAndAgain(script, socket)
            }
            try await group.waitForAll()
        }
        #expect(try lagged(slow), "the reader that read no events got no `lagged` event")
        #expect(daemon.isRunning, "\(daemon.text.suffix(2000))")
    }

    /// Moves one till after another to the device and waits for its tap, for the test's time and
    /// at least four times.
    @concurrent
    private static func tapAgainAndAgain(_ script: Script, _ socket: String) async throws {
        let start = ContinuousClock.now
        var memory: [Int] = []
        var taps = 0
        // A busy machine needs more time for the four taps.
        while start.duration(to: .now) < .seconds(seconds) || taps < 4 {
            let eid = EID.random()
            script.near.withLock { $0 = eid }
            let state = try await eventually("\(eid) has the verdict `tap`") {
                // SAFETY: a pause between two requests, so that they do not load the daemon.
                try await Task.sleep(for: .milliseconds(250))
                let presences = try await presences(socket)
                #expect(presences.count <= ProximityPolicy.presenceLimit)
                return presences.first { $0.eid == eid && $0.verdict == .tap }
            }
            #expect(state.eid == eid)
            taps += 1
            memory.append(try await metric("process_resident_memory_bytes", socket))
        }
        let sent = script.sent.withLock(\.self)
        print("\(sent) advertisements, \(taps) taps, memory \(memory.map { $0 >> 10 }) KiB")
        // A busy machine sends fewer advertisements, but at least 300 a second.
        #expect(sent >= seconds * 300, "only \(sent) advertisements")
        #expect(taps >= 4, "only \(taps) taps")
        // The first third of the taps includes all memory that is allocated only once.
        let early = try #require(memory.prefix(max(1, memory.count / 3)).max())
        let late = try #require(memory.suffix(max(1, memory.count / 3)).max())
        #expect(late - early < 8 << 20, "memory grew: \(memory)")
    }

    /// Sends the crowd's advertisements: one in a hundred is near, a third are far tills, and the
    /// rest are not EIDs.
    @concurrent
    private static func crowd(_ bluez: CrowdedBlueZ, _ script: Script) async throws {
        var random = SeededGenerator("AdvertLoadTests")
        var due = ContinuousClock.now
        while !script.isOver.withLock(\.self) {
            let near = script.near.withLock(\.self)
            // The address changes with the EID, as a kiosk's does.
            let nearAddress = addresses + Int(near.serviceData.reduce(0) { $0 &* 31 &+ UInt16($1) })
            try await bluez.hears(nearAddress, rssi: -40, data: near.serviceData)
            for _ in 1..<perBatch {
                let address = Int.random(in: 0..<addresses, using: &random)
                try await bluez.hears(
                    address,
                    rssi: Int16.random(in: -99 ... -80, using: &random),
                    data: data(of: address)
                )
            }
            script.sent.withLock { $0 += perBatch }
            due += batch
            // SAFETY: the pace of the crowd; a slow machine only sends fewer advertisements.
            try await Task.sleep(until: max(due, .now))
        }
    }

    private static let zeros = String(repeating: "0", count: EID.length)

    /// Returns the service data of a device. It depends only on the device's address.
    private static func data(of address: Int) -> [UInt8]? {
        switch address % 6 {
        case 0, 1: Array((zeros + String(address, radix: 16)).utf8.suffix(EID.length))
        case 2: [2, 0] + Array("abcdefgh".utf8)
        case 3: Array("zzzzzzzzzz".utf8)
        case 4: Array("abc".utf8)
        default: nil  // SAFETY: an Int, not an enum; these devices have no service data.
        }
    }

    /// The answer to `GET /v1/sessions`.
    private struct Presences: Decodable {
        let sessions: [Presence]

        struct Presence: Decodable {
            let eid: EID
            let verdict: Verdict
        }
    }

    private static func presences(_ socket: String) async throws -> [Presences.Presence] {
        let reply = try await UnixHTTP.call(socket, "GET", "/v1/sessions", nil, key: nil)
        let body = try #require(reply?.body)
        return try JSONDecoder().decode(Presences.self, from: body).sessions
    }

    private static func metric(_ name: String, _ socket: String) async throws -> Int {
        let page = try await UnixHTTP.call(socket, "GET", "/metrics", nil, key: nil)
        let lines = String(decoding: page?.body ?? Data(), as: UTF8.self).split(separator: "\n")
        let line = lines.first { $0.hasPrefix("\(name) ") }
        return try #require(line?.split(separator: " ").last.flatMap { Int($0) }, "\(name)")
    }

    /// Subscribes to events without reading any.
    private func reader(of socket: String, _ daemon: Program) async throws -> Int32 {
        let descriptor = try await eventually("the daemon answers; it said: \(daemon.text)") {
            UnixHTTP.connected(to: socket)
        }
        let text = "GET /v1/events?sessions=true HTTP/1.1\r\nHost: gotchu\r\n\r\n"
        let sent = text.withCString {
            send(descriptor, $0, strlen($0), Int32(MSG_NOSIGNAL))
        }
        #expect(sent == text.utf8.count)
        return descriptor
    }

    /// Reads the pending events. Returns true if one of them is `lagged`: events are missing.
    private func lagged(_ descriptor: Int32) throws -> Bool {
        var kept: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 256 * 1024)
        let mark = Data(#""event":"lagged""#.utf8)
        while true {
            // If nothing arrives, the socket's own timeout ends the call.
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { return false }
            kept = Array((kept + buffer.prefix(count)).suffix(count + mark.count))
            if Data(kept).firstRange(of: mark) != nil { return true }
        }
    }
}
