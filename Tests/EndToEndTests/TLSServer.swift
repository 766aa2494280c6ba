import Foundation
import TestSupport

/// A TLS server on loopback that answers like a ready payment server. It has its own CA.
final class TLSServer: Sendable {
    let url: String
    /// The path of the CA's certificate.
    let caFile: String
    private let program: Program

    init(in folder: TemporaryFolder) async throws {
        let path = "\(folder.path)/tls"
        caFile = "\(path)/ca.pem"
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: false
        )
        let body = #"{"status":"ready"}"#
        let head = "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
        _ = try folder.write(head + body, to: "tls/readyz")
        try await Self.certify("ca", ["-subj", "/CN=A test's own CA"], in: path)
        try await Self.certify(
            "server",
            [
                "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
                "-addext", "basicConstraints=critical,CA:false",
                "-CA", "ca.pem", "-CAkey", "ca.key",
            ],
            in: path
        )
        let program = try Program(
            "/usr/bin/env",
            [
                "-C", path, "openssl", "s_server", "-accept", "127.0.0.1:0", "-HTTP",
                "-key", "server.key", "-cert", "server.pem",
            ]
        )
        self.program = program
        url = try await eventually("openssl listens; it said: \(program.text)") {
            program.text.firstMatch(of: /ACCEPT \S*:(\d+)/).map { "https://127.0.0.1:\($0.1)" }
        }
    }

    /// Creates the files of a key and a certificate with this name.
    private static func certify(
        _ name: String,
        _ more: [String],
        in folder: String
    ) async throws {
        let made = try Program(
            "/usr/bin/env",
            [
                "-C", folder, "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes",
                "-days", "1", "-batch", "-keyout", "\(name).key", "-out", "\(name).pem",
            ] + more
        )
        guard try await made.exitCode() == 0 else {
            throw NeverHappened(description: "a certificate is made: \(made.text)")
        }
    }
}
