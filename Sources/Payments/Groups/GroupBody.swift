package import GotchuCore
package import Ledger

extension Group {
    /// The data for which the record has no column, as canonical JSON. Times are in milliseconds.
    package struct Body: Codable, Equatable, Sendable {
        package let purpose: String
        package let amount: Int64
        package let currency: Currency
        package let memo: String?
        package let reference: String?
        let eid: EID
        let expiresAt: Int64
        let paidAt: Int64?
        let rotations: Int64
        package let isAllOrNothing: Bool
        package let shares: [Int64]
        let takeBasisPoints: Int64?
        package let sale: Sale?
        let claims: [Claim]
        let shareCount: Int64
        let lapses: [String: Int64]?

        struct Claim: Codable, Equatable, Sendable {
            let place: Int64
            let payer: UserID
            let share: Int64
            let until: Int64?
        }

        /// - Throws: `LedgerError` with `corrupt`.
        package init(_ json: String) throws(LedgerError) {
            self = try decoded(from: json)
        }

        fileprivate init(_ group: Group) {
            purpose = group.purpose
            amount = group.amount.minorUnits
            currency = group.amount.currency
            memo = group.memo
            reference = group.reference
            eid = group.eid
            expiresAt = group.expiresAt.milliseconds
            paidAt = if case .paid(let time) = group.state { time.milliseconds } else { nil }
            rotations = group.rotations
            isAllOrNothing = group.isAllOrNothing
            shares = group.shares
            takeBasisPoints = group.takeBasisPoints
            sale = group.sale
            claims = group.claims.map { claim in
                Claim(
                    place: claim.place,
                    payer: claim.payer,
                    share: claim.share,
                    until: claim.until?.milliseconds
                )
            }
            shareCount = group.shareCount
            let counts = group.lapses.map { ($0.key.rawValue, $0.value) }
            lapses = counts.isEmpty ? nil : Dictionary(uniqueKeysWithValues: counts)
        }

        /// The number of shares whose money the payee of an ended group received, and their sum in
        /// minor units: zero if all or nothing was to be paid and a share was missing.
        package var received: (count: Int, amount: Int64) {
            isAllOrNothing && paidAt == nil ? (0, 0) : paid
        }

        /// The number of paid shares, and their sum in minor units.
        fileprivate var paid: (count: Int, amount: Int64) {
            if let sale { return (Int(sale.sold), sale.sold * amount) }
            let paid = claims.filter { $0.until == nil }
            let amounts = paid.map { claim in
                let index = Int(clamping: claim.place) - 1
                return shares.indices.contains(index) ? shares[index] : 0
            }
            return (paid.count, amounts.reduce(0, +))
        }
    }

    /// - Throws: `LedgerError` with `corrupt` if the record is not a possible group.
    package init(_ record: Record) throws(LedgerError) {
        let body = try Body(record.body)
        guard record.kind == Self.kind, let id = SessionID(rawValue: record.id.rawValue),
            id.isOfGroup, let state = Self.state(record.state, body), Self.canBe(body, of: record)
        else { throw .corrupt("a group") }
        self.init(
            id: id,
            purpose: body.purpose,
            payee: record.owner,
            eid: body.eid,
            amount: Money(minorUnits: body.amount, currency: body.currency),
            memo: body.memo,
            reference: body.reference,
            createdAt: record.createdAt,
            expiresAt: Timestamp(milliseconds: body.expiresAt),
            isAllOrNothing: body.isAllOrNothing,
            shares: body.shares,
            takeBasisPoints: body.takeBasisPoints,
            sale: body.sale,
            state: state,
            version: record.version,
            rotations: body.rotations,
            claims: body.claims.map { claim in
                Claim(
                    place: claim.place,
                    payer: claim.payer,
                    share: claim.share,
                    until: claim.until.map { Timestamp(milliseconds: $0) }
                )
            },
            shareCount: body.shareCount,
            lapses: Dictionary(
                uniqueKeysWithValues: (body.lapses ?? [:]).map {
                    (UserID(trusted: $0.key), $0.value)
                }
            )
        )
    }

    /// Returns false for amounts, places and times that no group can have: the database can contain
    /// any text.
    private static func canBe(_ body: Body, of record: Record) -> Bool {
        let places = body.claims.map(\.place)
        if let sale = body.sale {
            guard sale.sold >= 0, sale.places > 0, !body.isAllOrNothing,
                body.shares.allSatisfy({ $0 == body.amount }),
                body.claims.allSatisfy({ $0.until != nil })
            else { return false }
        }
        return Money.allowedRequest.contains(body.amount)
            && body.takeBasisPoints.map { Take.allowed.contains($0) && body.sale == nil } ?? true
            && body.shares.allSatisfy { Money.allowedRequest.contains($0) }
            && body.expiresAt > record.createdAt.milliseconds
            && zip(places, places.dropFirst()).allSatisfy { $0 < $1 }
            && places.allSatisfy { (1...Int64(max(1, body.shares.count))).contains($0) }
            && Set(body.claims.map(\.share)).count == body.claims.count
            && body.claims.allSatisfy { claim in
                (1...max(1, body.shareCount)).contains(claim.share) && claim.payer != record.owner
                    && claim.until.map { $0 <= body.expiresAt } ?? true
            }
    }

    private static func state(_ name: String, _ body: Body) -> State? {
        let isPaid = body.sale == nil && body.paid.count == body.shares.count
        let isHeld = body.claims.contains { $0.until != nil }
        return switch (SessionStatus(rawValue: name), body.paidAt) {
        case (.advertising, nil): isPaid ? nil : .open
        case (.paid, let time?): isPaid ? .paid(at: Timestamp(milliseconds: time)) : nil
        case (.expired, nil): isHeld ? nil : .expired
        case (.cancelled, nil): isHeld ? nil : .cancelled
        default: nil
        }
    }

    package var record: Record {
        Record(
            id: recordID,
            kind: Self.kind,
            owner: payee,
            state: payeeSession.status.rawValue,
            version: version,
            createdAt: createdAt,
            dueAt: isFinal ? nil : (heldClaims.compactMap(\.until) + [expiresAt]).min(),
            body: json
        )
    }

    private var json: String {
        guard let json = try? canonicalJSON(Body(self)) else {
            preconditionFailure("a group can be written as JSON")
        }
        return json
    }
}
