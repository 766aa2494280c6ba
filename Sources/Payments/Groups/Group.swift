package import GotchuCore
package import Ledger

/// A payee's request that several payers pay. Each payment pays for one place. The API shows the
/// group as a session. A payer's part is a session of its own: the share.
package struct Group: Equatable, Sendable {
    /// The stored name of its record kind.
    package static let kind = "group"
    package let id: SessionID
    /// The stored name of its purpose.
    package let purpose: String
    package let payee: UserID
    package var eid: EID
    /// The sum of all shares; for a sale the price of one place.
    package let amount: Money
    package let memo: String?
    /// The payee's own reference.
    package let reference: String?
    package let createdAt: Timestamp
    package let expiresAt: Timestamp
    /// A Boolean that is true if the money stays in the group's pot until the last share is paid.
    package let isAllOrNothing: Bool
    /// The amount of each place in minor units; places are numbered from 1.
    package let shares: [Int64]
    /// The house's take of each share in basis points, fixed at creation; `nil` for none.
    var takeBasisPoints: Int64?
    /// The sale of another record's places; `nil` if the group has none.
    package var sale: Sale?
    package var state: State = .open
    /// The version: 1 when created; grows by one with each change.
    package var version: Int64 = 1
    /// The number of changes of its EID.
    var rotations: Int64 = 0
    /// The places that are held or paid, in order. A sale's paid places are not included.
    package var claims: [Claim] = []
    /// The number of shares made so far.
    var shareCount: Int64 = 0
    /// The number of holds that expired or were released, by payer.
    var lapses: [UserID: Int64] = [:]

    /// The states, each with the data that only it has.
    package enum State: Equatable, Sendable {
        case open
        case paid(at: Timestamp)
        case expired
        case cancelled
    }

    /// A place that a payer holds or has paid.
    package struct Claim: Equatable, Sendable {
        package let place: Int64
        package let payer: UserID
        /// The number of the share among the group's children.
        package let share: Int64
        /// The end of the hold; `nil` once it is paid.
        package var until: Timestamp?

        package var isPaid: Bool { until == nil }
    }

    // MARK: Its figures

    package var isFinal: Bool { state != .open }

    var paidClaims: [Claim] { claims.filter(\.isPaid) }
    var heldClaims: [Claim] { claims.filter { !$0.isPaid } }

    /// Returns the amount of a place in minor units; `nil` if the group has no such place.
    package func amount(of place: Int64) -> Int64? {
        shares.indices.contains(Int(clamping: place) - 1) ? shares[Int(place) - 1] : nil
    }

    /// Returns the house's take of a place in minor units; `nil` for none.
    func take(of place: Int64) -> Int64? {
        Take.part(of: amount(of: place) ?? 0, basisPoints: takeBasisPoints ?? 0)
    }

    /// The entries that pay out the pot: the takes to the house, the rest to the payee.
    var releaseLines: [(account: Account.Key, amount: Int64)] {
        let total = paidAmount
        let take = paidClaims.compactMap { self.take(of: $0.place) }.reduce(0, +)
        let lines = [
            (pot, -total), (Account.Key(.user(payee), amount.currency), total - take),
            (takeAccount, take),
        ]
        return lines.filter { $0.1 != 0 }
    }

    /// The account of the house's takes on payments to the payee.
    var takeAccount: Account.Key { Account.Key(.houseOf(.take, payee), amount.currency) }

    /// The places that are not paid, in order.
    var unpaidPlaces: [Int64] {
        let paid = Set(paidClaims.map(\.place))
        return shares.indices.map { Int64($0 + 1) }.filter { !paid.contains($0) }
    }

    /// The places that are neither held nor paid, in order.
    package var freePlaces: [Int64] {
        let claimed = Set(claims.map(\.place))
        return unpaidPlaces.filter { !claimed.contains($0) }
    }

    /// The sum of the paid shares, in minor units.
    package var paidAmount: Int64 {
        if let sale { return sale.sold * amount.minorUnits }
        return paidClaims.map { amount(of: $0.place) ?? 0 }.reduce(0, +)
    }

    /// The money in its pot, in minor units.
    var pooled: Int64 { isAllOrNothing && !isFinal ? paidAmount : 0 }

    /// Returns the refusal of any payment at `time`; `nil` while the group is open.
    func finalReason(at time: Timestamp) -> Refusal.Reason? {
        switch state {
        case .open: time >= expiresAt ? .sessionExpired : nil
        case .paid: .sessionPaid
        case .expired: .sessionExpired
        case .cancelled: .sessionCancelled
        }
    }

    /// Returns true if the group as of `time` differs from this one, or if a command must end it.
    func isChanged(by time: Timestamp) -> Bool {
        asOf(time) != self || !isFinal && time >= expiresAt
    }

    // MARK: Its changes

    /// Returns the group as of `time`, without expired holds. After `expiresAt` the group is
    /// expired if its pot is empty; otherwise a command must first return the money. Time changes a
    /// group only here.
    func asOf(_ time: Timestamp) -> Group {
        guard !isFinal else { return self }
        var next = self
        for claim in claims where claim.until.map({ time >= $0 }) ?? false { next.endHold(claim) }
        if time >= expiresAt, pooled == 0 { next.state = .expired }
        if next != self { next.version += 1 }
        return next
    }

    /// Returns the next version, with a place held or paid. Once its last place is paid, the group
    /// is paid. In a sale, a place is free again once it is paid.
    func claimed(_ claim: Claim, at time: Timestamp) -> Group {
        var next = self
        next.version += 1
        next.claims.removeAll { $0.place == claim.place }
        if claim.isPaid, sale != nil {
            next.sale?.sold += 1
            return next
        }
        next.claims.append(claim)
        next.claims.sort { $0.place < $1.place }
        if next.unpaidPlaces.isEmpty { next.state = .paid(at: time) }
        return next
    }

    /// Returns the next version, with a hold released.
    func released(_ claim: Claim) -> Group {
        var next = self
        next.version += 1
        next.endHold(claim)
        return next
    }

    /// Returns the next version, in a final state and without holds.
    func ended(as state: State) -> Group {
        var next = self
        next.version += 1
        next.claims = paidClaims
        next.state = state
        return next
    }

    /// Returns the next version, with another EID.
    func rotated(to eid: EID) -> Group {
        var next = self
        next.version += 1
        next.rotations += 1
        next.eid = eid
        return next
    }
}

extension Group {
    var recordID: RecordID { RecordID(id) }

    /// The pot that contains its money.
    var pot: Account.Key { Account.Key(.pot(recordID), amount.currency) }

    /// Returns the id of a share by its number.
    func shareID(_ number: Int64) -> SessionID { id.share(number) }

    /// Returns the share that the group's id stands for when a payer uses it: the held share, else
    /// the last paid one; `nil` if the payer has none. A sale's paid shares are not found.
    func subject(for payer: UserID) -> SessionID? {
        let own = claims.filter { $0.payer == payer }
        return (own.first { !$0.isPaid } ?? own.last).map { shareID($0.share) }
    }

    /// A Boolean that is true if its pot has returned the payments.
    private var isReturned: Bool { isAllOrNothing && (state == .expired || state == .cancelled) }

    private var figures: Session.Figures {
        Session.Figures(
            purpose: purpose,
            isAllOrNothing: isAllOrNothing,
            places: sale?.places ?? Int64(shares.count),
            paid: isReturned ? 0 : sale?.sold ?? Int64(paidClaims.count),
            held: Int64(heldClaims.count),
            paidAmount: isReturned ? 0 : paidAmount,
            paidShares: paidClaims.map { shareID($0.share) },
            sale: sale?.record
        )
    }

    /// The group as a session, as its payee sees it.
    package var payeeSession: Session {
        let state: Session.State =
            switch self.state {
            case .open: .advertising
            case .paid(let time): .paid(by: payee, at: time)
            case .expired: .expired
            case .cancelled: .cancelled
            }
        return Session(
            id: id,
            eid: eid,
            payee: payee,
            amount: amount,
            memo: memo,
            reference: reference,
            createdAt: createdAt,
            expiresAt: expiresAt,
            state: state,
            version: version,
            rotations: rotations,
            role: .group(figures)
        )
    }

    /// Returns the group as seen by a payer who received its EID. The amount is that of the first
    /// free place, or of the first held place if none is free. If no place is free and one is held,
    /// the session is locked.
    func offer(at time: Timestamp) -> Session {
        var offer = payeeSession
        guard !isFinal else { return offer }
        if time >= expiresAt { offer.state = .expired }
        if let place = freePlaces.first ?? unpaidPlaces.first, let next = amount(of: place) {
            offer.amount = Money(minorUnits: next, currency: amount.currency)
        }
        if freePlaces.isEmpty, let held = heldClaims.first, let until = held.until {
            offer.state = .locked(by: held.payer, until: until)
        }
        return offer
    }
}

extension Session {
    /// The role of a session in a payment.
    package enum Role: Equatable, Sendable {
        /// One payer pays it.
        case sole
        /// A payer's part of a group.
        case share(Share)
        /// A group, shown as a session.
        case group(Figures)
    }

    /// A payer's part of a group.
    package struct Share: Equatable, Sendable {
        package let group: SessionID
        package let place: Int64
        /// The transfer that put its money into a pot, if there was one.
        package var stake: Transfer.Key?
        /// A Boolean that is true if the pot has returned the money.
        var isReturned = false
    }

    /// The counts and sums of a group that its session shows.
    package struct Figures: Equatable, Sendable {
        /// The name of its purpose.
        package let purpose: String
        package let isAllOrNothing: Bool
        package let places: Int64
        package let paid: Int64
        package let held: Int64
        /// The sum of the paid shares, in minor units.
        package let paidAmount: Int64
        /// The ids of the paid shares, in the order of their places; empty for a sale.
        package let paidShares: [SessionID]
        /// The record whose places are sold, if any are.
        package let sale: RecordID?
    }

    /// The group's figures, if the session shows a group.
    package var figures: Figures? { if case .group(let figures) = role { figures } else { nil } }

    /// Its place in a group, if it is a share.
    package var share: Share? { if case .share(let share) = role { share } else { nil } }
}

extension SessionID {
    /// The prefix of the ids of groups and of their shares.
    private static let groupPrefix = "g-"

    /// Creates an id for a group.
    package static func makeGroup(at time: Timestamp = .now) -> SessionID {
        guard let id = SessionID(rawValue: groupPrefix + make(at: time).rawValue) else {
            preconditionFailure("a group's id is a session's")
        }
        return id
    }

    /// A Boolean that is true for a group and for a share of one.
    var isOfGroup: Bool { rawValue.hasPrefix(Self.groupPrefix) }

    /// A Boolean that is true for a group itself.
    package var isGroup: Bool { group == self }

    /// The id of the group, if this is the id of a group or of a share. A group's id is `g-` and a
    /// UUID; a share's id also has `-` and its number.
    package var group: SessionID? {
        guard isOfGroup else { return nil }
        let parts = rawValue.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count > 6 else { return self }
        return SessionID(rawValue: parts.dropLast().joined(separator: "-"))
    }

    /// A Boolean that is true for a share of a group.
    var isShare: Bool {
        guard let group, group != self else { return false }
        return Int64(rawValue.dropFirst(group.rawValue.count + 1)).map(group.share) == self
    }

    func share(_ number: Int64) -> SessionID {
        guard let id = SessionID(rawValue: "\(rawValue)-\(number)") else {
            preconditionFailure("a share's id is a session's")
        }
        return id
    }
}
