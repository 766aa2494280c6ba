import DBus
import GotchuCore
import Radio
import TestSupport

/// Ten seconds of scripted radio traffic in a small shop: a kiosk that comes closer and leaves, a
/// phone at some distance and a Tile. A test sends the steps to a radio as kernel frames or as
/// bluetoothd's signals.
enum AirTrace {
    enum Sender: Int, CaseIterable {
        case kiosk = 1
        case phone, tile
    }

    struct Step {
        let time: MonotonicTime
        let sender: Sender
        let rssi: Int8
    }

    static let kiosk = EID(literal: "a1b2c3d4e5")
    static let phone = EID(literal: "0123456789")
    private static let tile: [UInt8] = [0x02, 0x00, 0xF3, 0x8E, 0x91, 0xC7, 0xD2, 0xAA, 0xB0, 0x80]

    /// The steps. The kiosk's level rises from −85 to −40 dBm, and later falls to −90 dBm.
    static let steps: [Step] = (0..<100).flatMap { turn -> [Step] in
        let time = MonotonicTime(sinceStart: .milliseconds(100 * turn))
        let level =
            turn < 30 ? -85 + turn * 3 / 2 : turn < 60 ? -40 : max(-90, -40 - (turn - 60) * 2)
        let kiosk = Step(time: time, sender: .kiosk, rssi: Int8(level + turn % 3 - 1))
        let phone = Step(time: time, sender: .phone, rssi: Int8(-70 + turn % 5))
        let tile = Step(time: time, sender: .tile, rssi: -50)
        return turn % 2 == 0 ? [kiosk, phone, tile] : [kiosk]
    }

    /// The number of steps that are sightings.
    static let sightingCount = steps.count { $0.sender != .tile }

    /// Returns the DEVICE_FOUND frame of a step.
    static func frame(_ step: Step) -> [UInt8] {
        let list = ManagementFrame.field(0x03, [0xED, 0xFE])
        let data =
            switch step.sender {
            case .kiosk: ManagementFrame.kiosk(kiosk)
            case .phone: list + ManagementFrame.field(0x09, phone.serviceData)
            case .tile: list + ManagementFrame.field(0x16, [0xED, 0xFE] + tile)
            }
        return ManagementFrame.deviceFound(
            data,
            rssi: step.rssi,
            device: UInt8(step.sender.rawValue)
        )
    }

    /// Returns the properties of interface `Device1` for a step.
    static func properties(_ step: Step) -> [String: Value] {
        var properties: [String: Value] = [
            "RSSI": .int16(Int16(step.rssi)), "UUIDs": .strings([ScriptedBlueZ.serviceUUID]),
        ]
        func serviceData(_ bytes: [UInt8]) -> Value {
            .properties([ScriptedBlueZ.serviceUUID: .bytes(bytes)])
        }
        switch step.sender {
        case .kiosk: properties["ServiceData"] = serviceData(kiosk.serviceData)
        case .phone: properties["Name"] = .string(phone.description)
        case .tile: properties["ServiceData"] = serviceData(tile)
        }
        return properties
    }
}

/// The result of playing the trace to a radio.
struct TraceOutcome: Equatable {
    struct Heard: Equatable {
        let eid: EID
        let carrier: Sighting.Carrier
        let dBm: Int?
    }

    var heard: [Heard] = []
    var ignored: [IgnoredReason] = []
    /// The changes of verdicts, in order, with the trace's times.
    var verdicts: [String] = []

    /// Collects the events until all sightings of the trace have arrived. The verdicts are computed
    /// with the trace's times, not with the times of arrival.
    static func collect(_ next: () async throws -> RadioEvent?) async throws -> TraceOutcome {
        var outcome = TraceOutcome()
        var board = ProximityBoard()
        let times = AirTrace.steps.filter { $0.sender != .tile }.map(\.time)
        while outcome.heard.count < AirTrace.sightingCount, let event = try await next() {
            switch event {
            case .heard(let sighting):
                let time = times[outcome.heard.count]
                outcome.heard.append(
                    Heard(
                        eid: sighting.eid,
                        carrier: sighting.carrier,
                        dBm: sighting.rssi?.dBm
                    )
                )
                let changes = board.add(
                    Sighting(
                        time: time,
                        eid: sighting.eid,
                        carrier: sighting.carrier,
                        rssi: sighting.rssi,
                        adapter: "hci0"
                    )
                )
                for eid in changes.changed.sorted() {
                    guard let presence = board[eid] else { continue }
                    outcome.verdicts.append("\(time.sinceStart) \(eid) \(presence.verdict)")
                }
            case .ignored(let reason): outcome.ignored.append(reason)
            case .stateChanged: break
            }
        }
        return outcome
    }
}
