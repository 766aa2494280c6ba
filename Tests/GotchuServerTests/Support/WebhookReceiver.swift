import Foundation
import TestSupport

/// A merchant's web server in Python. The Standard Webhooks library verifies the signatures.
final class WebhookReceiver: Sendable {
    struct Message: Decodable, Sendable {
        let path: String
        let id: String?
        let isVerified: Bool
        let body: String?
        /// The number of messages in progress at this path on arrival, this message included.
        let running: Int?

        enum CodingKeys: String, CodingKey {
            case path, id, body, running
            case isVerified = "verified"
        }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            path = try values.decode(String.self, forKey: .path)
            id = try values.decodeIfPresent(String.self, forKey: .id)
            body = try values.decodeIfPresent(String.self, forKey: .body)
            running = try values.decodeIfPresent(Int.self, forKey: .running)
            isVerified = (try? values.decode(Bool.self, forKey: .isVerified)) ?? false
        }
    }

    private let folder: TemporaryFolder
    private let program: Program
    let port: String

    init() async throws {
        folder = try TemporaryFolder()
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let venv = try Program("/bin/bash", [root.appendingPathComponent(".ci/venv").path])
        guard try await venv.exitCode(within: .seconds(300)) == 0,
            let python = venv.text.split(separator: "\n").last
        else { throw NeverHappened(description: "Python's packages are installed: \(venv.text)") }
        let script = root.appendingPathComponent("Tests/Python/webhook_receiver.py").path
        let program = try Program(String(python), ["-B", script, folder.path + "/secrets.json"])
        self.program = program
        let line = try await eventually("the receiver listens; its output: \(program.text)") {
            program.text.firstMatch(of: /port ([0-9]+)\n/)?.output.1
        }
        port = String(line)
    }

    func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

    /// Sets the secrets with which the receiver verifies the signatures, by path.
    func setSecrets(_ secrets: [String: String]) throws {
        let data = try JSONEncoder().encode(secrets)
        try data.write(to: URL(fileURLWithPath: folder.path + "/secrets.json"), options: .atomic)
    }

    /// Returns all messages that a path has received so far.
    func messages(_ path: String) -> [Message] {
        program.text.split(separator: "\n").compactMap {
            try? JSONDecoder().decode(Message.self, from: Data($0.utf8))
        }.filter { $0.path == path }
    }

    /// Waits until a path has received this many messages.
    func wait(for count: Int, at path: String) async throws -> [Message] {
        try await eventually("\(count) messages arrived at \(path): \(program.text)") {
            let messages = messages(path)
            return messages.count >= count ? messages : nil
        }
    }
}
