import Foundation
import GotchuAPI
import TestSupport

/// A real payment server and real daemons on the simulated air, in a temporary folder.
final class Shop: Sendable {
    let folder: TemporaryFolder
    let server: Program
    let url: String

    var database: String { "sqlite:\(folder.path)/books.db" }
    var air: String { "\(folder.path)/air" }

    /// - Parameters:
    ///   - openingBalance: The balance of each new wallet, in cents.
    ///   - more: Further arguments of the server.
    init(openingBalance: Int = 10_000, more: [String] = []) async throws {
        let folder = try TemporaryFolder()
        self.folder = folder
        let server = try Program(
            "gotchu-server",
            [
                "serve", "--listen", "127.0.0.1:0", "--database", "sqlite:\(folder.path)/books.db",
                "--dev", "--dev-opening-balance", "\(openingBalance)",
            ] + more
        )
        self.server = server
        url = try await eventually("the server listens; it said: \(server.text)") {
            server.text.split(separator: "\n").first { $0.hasPrefix("listening on ") }
                .map { String($0.dropFirst("listening on ".count)) }
        }
    }

    /// Starts a daemon at a position on the air and waits until it answers.
    func daemon(_ name: String, at position: String) async throws -> Device {
        let device = Device(name: name, shop: self)
        try await device.start(at: position)
        return device
    }

    /// Starts a kiosk and a payer, and logs both in.
    func pair(
        kioskAt: String = "0,0",
        payerAt: String = "1,0"
    ) async throws -> (kiosk: Device, payer: Device) {
        let kiosk = try await daemon("kiosk", at: kioskAt)
        let payer = try await daemon("payer", at: payerAt)
        try await kiosk.logIn()
        try await payer.logIn()
        return (kiosk, payer)
    }

    /// Runs `gotchu-server verify`.
    ///
    /// - Returns: Its output and its exit code.
    func verify() async throws -> (text: String, exitCode: Int32) {
        let program = try Program("gotchu-server", ["verify", "--database", database])
        let exitCode = try await program.exitCode()
        return (program.text, exitCode)
    }
}
