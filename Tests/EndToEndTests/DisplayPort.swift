import Foundation
import GotchuAPI
import GotchuCore
import TestSupport
import Testing

/// A daemon's port for the customer's display, and a browser's calls to it.
struct DisplayPort {
    let device: Device
    let origin: String

    /// Starts a daemon that has a port for displays.
    static func start(_ device: Device, of shop: Shop) async throws -> DisplayPort {
        let file = try shop.folder.write(
            #"{"screens": {"display": "127.0.0.1:0", "shop": "Corner <Cafe>"}}"#,
            to: "\(device.name).json"
        )
        try await device.start(extra: ["--config", file])
        let origin = try await eventually("the display's port is open") {
            try device.log().firstMatch(of: /url=(http:\/\/127\.0\.0\.1:[0-9]+)\/display/)
                .map { String($0.output.1) }
        }
        return DisplayPort(device: device, origin: origin)
    }

    /// Calls the port with curl, as another user if one is given.
    func call(
        _ path: String,
        _ arguments: [String] = [],
        as userID: Int? = nil
    ) async throws -> (status: Int, text: String) {
        let curl =
            ["/usr/bin/curl", "--silent", "--max-time", "20", "--write-out", "\n%{http_code}"]
            + arguments + [origin + path]
        let user = userID.map { ["--reuid=\($0)", "--regid=\($0)", "--clear-groups"] }
        let program =
            if let user {
                try Program("/usr/bin/setpriv", user + curl)
            } else { try Program(curl[0], Array(curl.dropFirst())) }
        try await program.exitCode(within: .seconds(25))
        let lines = program.text.split(separator: "\n", omittingEmptySubsequences: false)
        let status = try #require(lines.last.flatMap { Int($0) }, "\(program.text)")
        return (status, lines.dropLast().joined(separator: "\n"))
    }

    /// The display's current state.
    func now() async throws -> DisplayReply {
        let (status, text) = try await call("/v1/display")
        try #require(status == 200, "\(text)")
        return try JSONDecoder().decode(DisplayReply.self, from: Data(text.utf8))
    }

    /// Waits until the display has a state.
    @discardableResult
    func reaches(
        _ state: DisplayState,
        within limit: Duration = .seconds(60)
    ) async throws -> DisplayReply {
        try await eventually("the display is \(state)", within: limit) {
            let reply = try await now()
            return reply.state == state ? reply : nil
        }
    }

    /// Starts a reader of the display's events.
    func follow() throws -> DisplayReader {
        let address = origin + "/v1/display/events"
        return DisplayReader(
            program: try Program("/usr/bin/curl", ["--silent", "--no-buffer", address])
        )
    }
}

/// A reader of the display's events.
struct DisplayReader {
    let program: Program

    /// The received states in order, without the remaining time. Equal states in a row count once.
    var states: [DisplayReply] {
        let replies = program.text.split(separator: "\n").compactMap { line in
            var reply = try? JSONDecoder().decode(DisplayReply.self, from: Data(line.utf8))
            reply?.left?.milliseconds = 0
            return reply
        }
        return replies.reduce(into: []) { if $0.last != $1 { $0.append($1) } }
    }
}
