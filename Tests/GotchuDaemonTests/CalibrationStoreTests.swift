import Foundation
import GotchuAPI
import GotchuCore
import TestSupport
import Testing

@testable import GotchuDaemon

@Suite("Stored calibrations")
struct CalibrationStoreTests {
    private func calibration(tap: Int = -35) throws -> Calibration {
        let near = (0..<40).compactMap { _ in RSSI(dBm: tap) }
        let far = (0..<40).compactMap { _ in RSSI(dBm: tap - 25) }
        return try Calibration(tap: near, metre: far)
    }

    @Test(
        "A calibration survives a restart in a file only its owner can read; a reset removes it"
    )
    func restart() throws {
        let folder = try TemporaryFolder()
        let store = CalibrationStore(stateDirectory: folder.path)
        #expect(store.views.isEmpty)
        try store.set(calibration(), for: "02:AA:00:00:00:01")
        try store.set(calibration(tap: -45), for: "02:AA:00:00:00:02")
        let next = CalibrationStore(stateDirectory: folder.path)
        #expect(!next.wasUnreadable)
        #expect(next["02:AA:00:00:00:01"] == (try calibration()))
        #expect(next["02:AA:00:00:00:02"] == (try calibration(tap: -45)))
        #expect(next["hci0"] == nil)
        #expect(next.views.map(\.adapter) == ["02:AA:00:00:00:01", "02:AA:00:00:00:02"])
        let file = "\(folder.path)/calibration.json"
        let attributes = try FileManager.default.attributesOfItem(atPath: file)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        try next.reset()
        #expect(CalibrationStore(stateDirectory: folder.path).views.isEmpty)
    }

    @Test(
        "A truncated calibration file is unreadable, and a calibration changed by hand is not used"
    )
    func damage() throws {
        let folder = try TemporaryFolder()
        let store = CalibrationStore(stateDirectory: folder.path)
        try store.set(calibration(), for: "hci0")
        let file = "\(folder.path)/calibration.json"
        let text = try String(contentsOfFile: file, encoding: .utf8)
        _ = try folder.write(String(text.dropLast(20)), to: "calibration.json")
        #expect(CalibrationStore(stateDirectory: folder.path).wasUnreadable)
        let changed = text.replacingOccurrences(of: ": -60", with: ": -30")
        #expect(changed != text)
        _ = try folder.write(changed, to: "calibration.json")
        #expect(CalibrationStore(stateDirectory: folder.path)["hci0"] == nil)
    }

    @Test(
        "The number of stored calibrations is limited; an unsaved calibration is not used"
    )
    func limits() throws {
        let folder = try TemporaryFolder()
        let store = CalibrationStore(stateDirectory: folder.path)
        for number in 0...CalibrationStore.adapterLimit {
            try store.set(calibration(), for: "hci\(number)")
        }
        #expect(store.views.count == CalibrationStore.adapterLimit)
        let nowhere = CalibrationStore(stateDirectory: "\(folder.path)/none")
        #expect(throws: Problem.self) { try nowhere.set(calibration(), for: "a") }
        #expect(nowhere.views.isEmpty)
    }
}
