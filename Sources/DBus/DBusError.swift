/// The reason why something over D-Bus did not work.
package struct DBusError: Error, Equatable, Sendable {
    package var code: Code
    /// The D-Bus error name that the other side sent (`org.bluez.Error.NotReady`), if one came.
    package var name: String?
    /// The cause underneath, for logs: the other side's text, libdbus's. Never matched on.
    package var underlying: String?

    package init(_ code: Code, name: String? = nil, underlying: String? = nil) {
        self.code = code
        self.name = name
        self.underlying = underlying
    }

    /// Stable codes.
    package enum Code: String, CaseIterable, Sendable {
        /// There is no bus at the address, or it refused us.
        case unreachable
        /// The connection has ended; it never comes back, open another.
        case closed
        /// No reply came within the time allowed; whether the call had an effect is unknown.
        case timedOut = "timed-out"
        /// The calling task was cancelled; whether the call had an effect is unknown.
        case cancelled
        /// Too much is under way on this connection; nothing was sent.
        case overloaded
        /// The other side answered with an error; `name` says which.
        case remote
        /// A value cannot be sent, or one that came cannot be read.
        case invalidValue = "invalid-value"
    }

    /// One sentence that says what is wrong.
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
