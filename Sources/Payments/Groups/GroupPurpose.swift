package import GotchuCore
package import Ledger

/// The reason for which several people pay one request: who gets a place, and what paying it buys.
///
/// The group, its shares, their holds and their ends are the same for all purposes.
package protocol GroupPurpose: Sendable {
    /// The stored name, and the `kind` of the session that the wire shows.
    static var name: String { get }

    /// Adds the rows that it needs beside those of the group, the share and their parties.
    ///
    /// - Parameter isPaying: False for a lock or its end, which move no money.
    func touch(
        _ footprint: inout Footprint,
        for group: Group,
        by payer: UserID,
        knowing rows: Snapshot,
        isPaying: Bool
    )

    /// Returns the reason why a cancelled group sells no more, if what it sells is the cause.
    func closedReason(
        of group: Group,
        on books: Books,
        at time: Timestamp
    ) throws(Refusal) -> Refusal.Reason?

    /// Chooses the place that a payer gets. Changes nothing.
    ///
    /// - Throws: The reason why the payer gets none.
    func choose(
        for wish: PlaceWish,
        in group: Group,
        on books: Books,
        at time: Timestamp
    ) throws(Refusal) -> Int64

    /// Writes, where more than the group must know of it, that a payer's share holds a place.
    /// Throws before its first change.
    func hold(
        _ share: SessionID,
        of group: Group,
        by payer: UserID,
        until: Timestamp,
        on books: inout Books,
        at time: Timestamp
    ) throws(Refusal)

    /// Writes that a share's payer has given its place back. Throws before its first change.
    func release(
        _ share: SessionID,
        of group: Group,
        on books: inout Books,
        at time: Timestamp
    ) throws(Refusal)

    /// Moves the money of a share that is held, and writes what it buys; the caller writes the
    /// group and the share. Throws before its first change.
    ///
    /// - Parameter paid: The group with the share paid.
    /// - Returns: The transfer that took the money from the payer.
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

/// The wish of a payer who claims a place.
package struct PlaceWish: Equatable, Sendable {
    package let payer: UserID
    /// The place, if a certain one is wanted.
    package let place: Int64?
    /// The amount that the payer saw, in minor units, if the client sent it.
    package let expectedAmount: Int64?
}

/// The purposes that a server knows, by their names.
package struct GroupPurposes: Sendable {
    /// Splits alone.
    package static let splits = GroupPurposes([Split()])

    private let byName: [String: any GroupPurpose]

    package init(_ purposes: [any GroupPurpose]) {
        byName = Dictionary(uniqueKeysWithValues: purposes.map { (type(of: $0).name, $0) })
    }

    /// - Throws: `unreadable` for the group of a newer server.
    func purpose(of group: Group) throws(Refusal) -> any GroupPurpose {
        guard let purpose = byName[group.purpose] else { throw Refusal(.unreadable) }
        return purpose
    }
}
