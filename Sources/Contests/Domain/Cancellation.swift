package import GotchuCore

extension Contest {
    /// The end of a contest at which all stakes go back.
    package struct Cancellation: Codable, Equatable, Sendable {
        /// The one that has cancelled it. The raw values are stored.
        package enum Source: String, Codable, Sendable {
            case organizer, `operator`
            /// Nobody declared a result in time.
            case time
        }

        package let source: Source
        /// The words of the one that has cancelled it; `nil` for `time`.
        package let reason: String?
        private let at: Int64

        init(_ source: Source, _ reason: String?, at time: Timestamp) {
            self.source = source
            self.reason = reason
            at = time.milliseconds
        }

        package var time: Timestamp { Timestamp(milliseconds: at) }
    }
}
