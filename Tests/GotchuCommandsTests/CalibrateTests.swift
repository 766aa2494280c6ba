import Foundation
import TestSupport
import Testing

@Suite("A calibration of two measured distances")
struct CalibrateTests {
    /// A run of `gotchu-ctl calibrate`, for which the test presses Enter.
    private final class Session: Sendable {
        let program: Program
        private let folder: TemporaryFolder
        private let keyboard: Int32

        init(socket: String) throws {
            folder = try TemporaryFolder()
            let path = "\(folder.path)/keyboard"
            mkfifo(path, 0o600)
            // The pipe is opened for reading too, so that opening it does not block.
            keyboard = open(path, O_RDWR | O_CLOEXEC)
            program = try Program(
                "/bin/sh",
                ["-c", "exec \(GotchuCtl.path) calibrate --samples 30 < \(path)"],
                environment: ["GOTCHU_SOCKET": socket]
            )
        }

        deinit { close(keyboard) }

        func enter(after text: String) async throws {
            try await eventually("the program asks \(text); it said: \(program.text)") {
                program.text.contains(text) ? true : nil
            }
            write(keyboard, "\n", 1)
        }
    }

    private func move(_ system: LiveSystem, to distance: Double, below level: Int) async throws {
        try system.movePayer(to: distance)
        try await eventually("the payer hears a lower level") {
            let heard = try await GotchuCtl.run(["scan", "--once", "--json"], socket: system.payer)
            let sessions = try heard.json()["sessions"] as? [[String: Any]]
            let rssi = sessions?.first?["rssi_dbm"] as? Int
            return rssi.map { $0 < level } == true ? true : nil
        }
    }

    @Test("A calibration is measured and stored, then shown and used, until it is reset")
    func measure() async throws {
        let system = try await LiveSystem()
        _ = try await system.request("1.00")
        let session = try Session(socket: system.payer)
        try await session.enter(after: "1 of 2")
        try await eventually("the first distance is done; it said: \(session.program.text)") {
            session.program.text.contains("2 of 2") ? true : nil
        }
        try await move(system, to: 1, below: -50)
        try await session.enter(after: "2 of 2")
        #expect(try await session.program.exitCode() == 0, "\(session.program.text)")
        #expect(session.program.text.contains("TAP ENTER/LEAVE"))

        let status = try await GotchuCtl.run(["status", "--json"], socket: system.payer).json()
        let radio = try #require(status["radio"] as? [String: Any])
        let calibration = try #require(radio["calibration"] as? [String: Any])
        let enter = try #require(calibration["tap_enter"] as? Double)
        #expect(enter < -30 && enter > -58)
        let explained = try await GotchuCtl.run(
            ["scan", "--once", "--explain"],
            socket: system.payer
        )
        #expect(explained.out.contains("as calibrated"), "\(explained.out)")
        let doctor = try await GotchuCtl.run(["doctor"], socket: system.payer)
        #expect(doctor.out.contains("odds of 148:1"), "\(doctor.out)")
        #expect(doctor.out.contains("above \(enter) dBm, as calibrated"), "\(doctor.out)")
        let shown = try await GotchuCtl.run(["calibrate", "--show"], socket: system.payer)
        #expect(shown.code == 0)
        #expect(shown.out.contains("\(enter)"))

        let reset = try await GotchuCtl.run(["calibrate", "--reset"], socket: system.payer)
        #expect(reset.code == 0, "\(reset.err)")
        #expect(reset.out.contains("Nothing was measured"))
    }

    @Test("The same distance twice is refused with the reason, and Ctrl-C changes nothing")
    func refusals() async throws {
        let system = try await LiveSystem()
        _ = try await system.request("1.00")
        let same = try Session(socket: system.payer)
        try await same.enter(after: "1 of 2")
        try await same.enter(after: "2 of 2")
        #expect(try await same.program.exitCode() == 1, "\(same.program.text)")
        #expect(same.program.text.contains("The two distances sound too much alike"))

        let interrupted = try Session(socket: system.payer)
        try await eventually("the program asks for the first distance") {
            interrupted.program.text.contains("1 of 2") ? true : nil
        }
        interrupted.program.signal(SIGINT)
        #expect(try await interrupted.program.exitCode() == 1)
        #expect(interrupted.program.text.contains("Nothing was changed."))
        let shown = try await GotchuCtl.run(["calibrate", "--show"], socket: system.payer)
        #expect(shown.out.contains("Nothing was measured"))

        let unattended = try await GotchuCtl.run(["calibrate"], socket: system.payer)
        #expect(unattended.code == 64)
    }
}
