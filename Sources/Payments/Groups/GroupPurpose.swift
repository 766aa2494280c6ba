package import GotchuCore
package import Ledger

/// The purpose of a group: it decides who gets a place, and what paying for it buys.
///
/// Groups, shares and holds work the same for all purposes.
package protocol GroupPurpose: Sendable {
    /// The stored name, and the `kind` of the session in the API.
    static var name: String { get }

    /// Adds the rows that it needs, apart from those of the group, the share and their parties.
    ///
    /// - Parameter isPaying: False for locking and unlocking, which move no money.
    func touch(
        _ footprint: inout Footprint,
        for group: Group,
        by payer: UserID,
        knowing rows: Snapshot,
        isPaying: Bool
    )

    /// Returns the reason for refusals by a cancelled group, if the purpose has a more precise one
    /// than `sessionCancelled`.
    func closedReason(
        of group: Group,
        on books: Books,
        at time: Timestamp
    ) throws(Refusal) -> Refusal.Reason?

    /// Chooses a place for a payer. Changes nothing.
    ///
    /// - Throws: The reason why the payer gets no place.
    func choose(
        for request: PlaceRequest,
        in group: Group,
        on books: Books,
        at time: Timestamp
    ) throws(Refusal) -> Int64

    /// Records a payer's hold in rows outside the group, if the purpose has such rows. Throws
    /// before its first change.
    func hold(
        _ share: SessionID,
        of group: Group,
        by payer: UserID,
        until: Timestamp,
        on books: inout Books,
        at time: Timestamp
    ) throws(Refusal)

    /// Records that a share's payer has released its place. Throws before its first change.
    func release(
        _ share: SessionID,
        of group: Group,
        on books: inout Books,
        at time: Timestamp
    ) throws(Refusal)

    /// Moves the money of a held share, and records what it buys; the caller writes the group and
    /// the share. Throws before its first change.
    ///
    /// - Parameter paid: The group as it is after the payment.
    /// - Returns: The transfer that debits the payer.
    func pay(
        _ share: Session,
        by payer: UserID,
        of paid: Group,
        on books: inout Books,
        at time: Timestamp
    ) throws(Refusal) -> Transfer
}

extension GroupPurpose {
    package func closedReason(
        of group: Group,
        on books: Books,
        at time: Timestamp
    ) throws(Refusal) -> Refusal.Reason? { nil }

    package func hold(
        _ share: SessionID,
        of group: Group,
        by payer: UserID,
        until: Timestamp,
        on books: inout Books,
        at time: Timestamp
    ) throws(Refusal) {}

    package func release(
        _ share: SessionID,
        of group: Group,
        on books: inout Books,
        at time: Timestamp
    ) throws(Refusal) {}
}

/// The request of a payer for a place.
package struct PlaceRequest: Equatable, Sendable {
    package let payer: UserID
    /// The requested place; `nil` for any.
    package let place: Int64?
    /// The amount that the payer saw, in minor units, if the client sent it.
    package let expectedAmount: Int64?
}

/// The purposes that a server supports, by name.
package struct GroupPurposes: Sendable {
    /// Only splits.
    package static let splits = GroupPurposes([Split()])

    private let byName: [String: any GroupPurpose]

    package init(_ purposes: [any GroupPurpose]) {
        byName = Dictionary(uniqueKeysWithValues: purposes.map { (type(of: $0).name, $0) })
    }

    /// - Throws: `unreadable` for a purpose that this server does not support, such as one of a
    ///   newer server.
    func purpose(of group: Group) throws(Refusal) -> any GroupPurpose {
        guard let purpose = byName[group.purpose] else { throw Refusal(.unreadable) }
        return purpose
    }
}
