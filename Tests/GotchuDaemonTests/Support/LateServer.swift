import Foundation
import GotchuAPI
import GotchuCore
import Synchronization
import TestSupport

/// A payment server on loopback that only resolves EIDs, each after a delay of its own.
final class LateServer: Sendable {
    enum Reply: Sendable {
        case session(SessionID)
        case noSession
        /// The connection is closed instead.
        case nothing
    }

    private struct State {
        var replies: [EID: (reply: Reply, delay: Duration)] = [:]
        var answered: Set<EID> = []
    }

    var port: UInt16 { listener.port }
    private let listener: LoopbackListener
    private let state = Mutex(State())

    init() throws {
        listener = try LoopbackListener()
        listener.start { [self] connection in
            while let body = Self.request(on: connection), answer(body, on: connection) {}
            close(connection)
        }
    }

    /// Sets the reply to all later calls about an EID; for an EID without one, it is `noSession`.
    func reply(to eid: EID, _ reply: Reply, after delay: Duration = .zero) {
        state.withLock { $0.replies[eid] = (reply, delay) }
    }

    /// The EIDs about which a reply was sent.
    var answered: Set<EID> { state.withLock(\.answered) }

    func stop() { listener.stop() }

    /// Reads one request and returns its body; `nil` at the connection's end.
    private static func request(on connection: Int32) -> String? {
        var text = ""
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let parts = text.components(separatedBy: "\r\n\r\n")
            let length = parts[0].lowercased().components(separatedBy: "content-length: ")
                .dropFirst().first.flatMap { Int($0.prefix { $0.isNumber }) }
            if parts.count > 1, parts[1].utf8.count >= length ?? 0 { return parts[1] }
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            text += String(decoding: buffer.prefix(count), as: UTF8.self)
        }
    }

    /// Sends the reply after its delay. Returns false if the connection ends instead.
    private func answer(_ body: String, on connection: Int32) -> Bool {
        guard let field = body.range(of: #""eid":""#),
            let eid = EID(String(body[field.upperBound...].prefix(10)))
        else { return false }
        let (reply, delay) = state.withLock { state in
            state.replies[eid] ?? (.noSession, .zero)
        }
        // SAFETY: the delay is what this server is for.
        Thread.sleep(forTimeInterval: delay / .seconds(1))
        let (status, json): (String, String)
        switch reply {
        case .nothing: return false
        case .noSession: (status, json) = ("404 Not Found", #"{"code":"NOT_FOUND"}"#)
        case .session(let sid):
            (status, json) = (
                "200 OK",
                #"{"sid":"\#(sid)","amount_cents":500,"payee_display":{"name":"Shop"}}"#
            )
        }
        _ = state.withLock { $0.answered.insert(eid) }
        let response =
            "HTTP/1.1 \(status)\r\nContent-Type: application/json\r\n"
            + "Content-Length: \(json.utf8.count)\r\n\r\n\(json)"
        let bytes = Array(response.utf8)
        return send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }
}
