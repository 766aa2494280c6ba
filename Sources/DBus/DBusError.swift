/// The reason why an operation over D-Bus failed.
package struct DBusError: Error, Equatable, Sendable {
    package var code: Code
    /// The D-Bus error name in the peer's reply (`org.bluez.Error.NotReady`), if there was one.
    package var name: String?
    /// The underlying cause, for logs: the peer's text, or libdbus's. Never matched on.
    package var underlying: String?

    package init(_ code: Code, name: String? = nil, underlying: String? = nil) {
        self.code = code
        self.name = name
        self.underlying = underlying
    }

    /// Stable codes.
    package enum Code: String, CaseIterable, Sendable {
        /// There is no bus at the address, or it refused the connection.
        case unreachable
        /// The connection has ended and cannot be reopened; open another.
        case closed
        /// No reply came within the time allowed; whether the call had an effect is unknown.
        case timedOut = "timed-out"
        /// The calling task was cancelled; whether the call had an effect is unknown.
        case cancelled
        /// Too much is pending on this connection; nothing was sent.
        case overloaded
        /// The peer replied with an error; `name` is its name.
        case remote
        /// A value cannot be sent, or a received one cannot be read.
        case invalidValue = "invalid-value"
    }

    /// One sentence that describes the problem.
    package var sentence: String {
        switch code {
        case .unreachable: "The D-Bus bus cannot be reached."
        case .closed: "The D-Bus connection has ended."
        case .timedOut: "No answer came over D-Bus in time."
        case .cancelled: "The D-Bus call was given up."
        case .overloaded: "Too many D-Bus calls are under way."
        case .remote: "The other side of D-Bus refused."
        case .invalidValue: "A D-Bus value is not well-formed."
        }
    }
}
