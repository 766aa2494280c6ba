package import GotchuCore

/// The contest that payers enter by paying a session, as the session shows it.
package struct DeskContest: Codable, Equatable, Sendable {
    package var id: String
    package var title: String
    package var state: ContestState
    /// The number of free places. A place held by a payer at a desk is not free.
    package var placesLeft: WireCount
    package var locksAt: Timestamp

    package init(
        id: String,
        title: String,
        state: ContestState,
        placesLeft: WireCount,
        locksAt: Timestamp
    ) {
        self.id = id
        self.title = title
        self.state = state
        self.placesLeft = placesLeft
        self.locksAt = locksAt
    }

    enum CodingKeys: String, CodingKey {
        case id
        case locksAt = "locks_at"
        case placesLeft = "places_left"
        case state, title
    }
}
