package import GotchuCore

extension Contest {
    /// A cancellation: the end of a contest with a refund of all stakes.
    package struct Cancellation: Codable, Equatable, Sendable {
        /// The party that cancelled it. The raw values are stored.
        package enum Source: String, Codable, Sendable {
            case organizer, `operator`
            /// The server, because nobody declared a result in time.
            case time
        }

        package let source: Source
        /// The reason given by the party that cancelled it; `nil` for `time`.
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
