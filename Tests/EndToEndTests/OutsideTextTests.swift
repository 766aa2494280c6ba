import Foundation
import TestSupport
import Testing

/// Text whose comparison would take the square of its length.
@Suite("Combining marks in requests to the daemon")
struct OutsideTextTests {
    private static func routes(
        _ file: String,
        _ pattern: some RegexComponent<(Substring, Substring, Substring)>
    )
        throws -> [String]
    {
        try String(contentsOfFile: Python.file("Sources/\(file)"), encoding: .utf8)
            .matches(of: pattern).map { "\($0.output.1.uppercased()) \($0.output.2)" }
    }

    @Test("Combining marks cost no route of the socket and the till's port more than other text")
    func routes() async throws {
        let shop = try await Shop()
        let port = try await TillPort.start(Device(name: "kiosk", shop: shop), of: shop)
        try await port.device.logIn()
        let till = try await port.paired("Front")
        let token = try #require(till.token)
        let paths = try Self.routes(
            "LocalAPI/Server/LocalRoutes.swift",
            /\(\.\w+, \.(\w+), "([^"]+)"[,)]/
        )
        let display = try Self.routes(
            "LocalAPI/Server/DisplayRoutes.swift",
            /table\.add(?:Stream)?\(level, \.(\w+), "([^"]+)"\)/
        )
        let socket = try MarkedRequests(
            paths + display,
            of: try port.device.processID,
            at: port.device.socket,
            headers: ["Host": "gotchu", "Idempotency-Key": UUID().uuidString],
            readBy: ["GotchuAPI", "LocalAPI/Server"]
        )
        #expect(socket.routes.count > 40 && socket.strings.count > 10)
        let screen = try MarkedRequests(
            try Self.routes("Screens/TillRoutes.swift", /\.(get|post|delete), "([^"]+)"\)/),
            of: try port.device.processID,
            at: try #require(port.origin.split(separator: ":").last.map(String.init)),
            headers: [
                "Host": port.origin.replacing("http://", with: ""), "Origin": port.origin,
                "Sec-Fetch-Site": "same-origin", "Authorization": "Bearer \(token)",
            ],
            readBy: ["GotchuAPI", "Screens"]
        )
        #expect(screen.routes.count > 10)
        for requests in [socket, screen] {
            let outcome = try await requests.send()
            #expect(outcome.slow.isEmpty, "\(outcome.slow.map { "\($0)" }.joined(separator: "\n"))")
            #expect(outcome.count > 400)
        }
    }
}
