import Foundation

/// Connections that subscribe to a daemon's events and do not read them.
package struct EventReaders {
    private var connections: [Int32] = []

    /// - Throws: `NeverHappened` if the daemon does not accept all connections.
    package init(_ count: Int, at socketPath: String) throws {
        let call = "GET /v1/events HTTP/1.1\r\nHost: gotchu\r\n\r\n"
        for number in 1...count {
            guard let connection = UnixHTTP.connected(to: socketPath) else {
                throw NeverHappened(description: "reader \(number) is connected")
            }
            connections.append(connection)
            var byte: UInt8 = 0
            // The daemon has subscribed the connection once it sends the answer's first byte.
            guard send(connection, call, call.utf8.count, Int32(MSG_NOSIGNAL)) == call.utf8.count,
                read(connection, &byte, 1) == 1
            else { throw NeverHappened(description: "reader \(number) is answered") }
        }
    }

    package func close() {
        for connection in connections { Foundation.close(connection) }
    }
}
