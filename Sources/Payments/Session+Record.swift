internal import GotchuCore
package import Ledger

/// The stored form of sessions.
extension Session {
    /// - Throws: `LedgerError` with `corrupt` if the record is not a possible session.
    package init(_ record: Record) throws(LedgerError) {
        let body = try Body(record.body)
        guard record.kind == Self.kind, let id = SessionID(rawValue: record.id.rawValue),
            let eid = EID(body.eid), let state = Self.state(record.state, body),
            let role = Self.role(of: id, body),
            Self.canBe(body, of: record)
        else { throw .corrupt("a session") }
        self.init(
            id: id,
            eid: eid,
            payee: record.owner,
            amount: Money(minorUnits: body.amount, currency: body.currency),
            memo: body.memo,
            reference: body.reference,
            createdAt: record.createdAt,
            expiresAt: Timestamp(milliseconds: body.expiresAt),
            state: state,
            version: record.version,
            rotations: body.rotations,
            tip: body.tip,
            take: body.take,
            refunded: body.refunded,
            role: role
        )
    }

    /// Reads a record as a session; a group as its payee sees it.
    ///
    /// - Returns: `nil` for a record of another kind.
    /// - Throws: `LedgerError` with `corrupt` if it cannot be read.
    package static func shown(_ record: Record) throws(LedgerError) -> Session? {
        switch record.kind {
        case kind: try Session(record)
        case Group.kind: try Group(record).payeeSession
        default: nil
        }
    }

    /// Returns the role that the id and the body agree on; `nil` if they do not.
    private static func role(of id: SessionID, _ body: Body) -> Role? {
        guard body.group == id.group?.rawValue else { return nil }
        guard let group = id.group else {
            return [body.place, body.returned] == [nil, nil]
                && [body.stake, body.pot] == [nil, nil]
                ? .sole : nil
        }
        guard let place = body.place, id.isShare,
            (body.stake == nil) == (body.pot == nil), body.returned == nil || body.stake != nil
        else { return nil }
        var share = Share(group: group, place: place)
        if let step = body.stake, let pot = body.pot {
            share.stake = Transfer.Key(RecordID(trusted: pot), step)
        }
        share.isReturned = body.returned != nil
        return .share(share)
    }

    /// Returns false for amounts, parties and times that no session can have. The database can
    /// contain any text, so its content is checked.
    private static func canBe(_ body: Body, of record: Record) -> Bool {
        let tip = body.tip ?? 0
        return Money.allowedRequest.contains(body.amount)
            && Money.allowedTip(on: body.amount).contains(tip)
            && body.take.map { $0 > 0 && $0 <= body.amount / 2 } ?? true
            && (0...body.amount + tip).contains(body.refunded)
            && (body.refunded == 0 && tip == 0 || body.paidAt != nil)
            && body.payer != record.owner
            && body.expiresAt > record.createdAt.milliseconds
            && body.lockedUntil.map { $0 <= body.expiresAt } ?? true
    }

    private static func state(_ name: String, _ body: Body) -> State? {
        switch (SessionStatus(rawValue: name), body.payer, body.lockedUntil, body.paidAt) {
        case (.created, nil, nil, nil): .created
        case (.advertising, nil, nil, nil): .advertising
        case (.locked, let payer?, let until?, nil):
            .locked(by: payer, until: Timestamp(milliseconds: until))
        case (.paid, let payer?, nil, let time?):
            .paid(by: payer, at: Timestamp(milliseconds: time))
        case (.expired, nil, nil, nil): .expired
        case (.cancelled, nil, nil, nil): .cancelled
        default: nil
        }
    }

    package var record: Record {
        let body = Body(
            amount: amount.minorUnits,
            currency: amount.currency,
            eid: eid.description,
            expiresAt: expiresAt.milliseconds,
            group: share?.group.rawValue,
            lockedUntil: lockExpiresAt?.milliseconds,
            memo: memo,
            paidAt: paidAt?.milliseconds,
            payer: payer,
            place: share?.place,
            pot: share?.stake?.record.rawValue,
            reference: reference,
            refunded: refunded,
            returned: share?.isReturned == true ? 1 : nil,
            rotations: rotations,
            stake: share?.stake?.step,
            take: take,
            tip: tip
        )
        return Record(
            id: recordID,
            kind: Self.kind,
            owner: payee,
            state: status.rawValue,
            version: version,
            createdAt: createdAt,
            dueAt: status.isFinal ? nil : lockExpiresAt ?? expiresAt,
            body: body.json
        )
    }
}

extension Books {
    /// Returns a session as of `time`.
    ///
    /// - Throws: `unreadable`, and `unknownSession`.
    func session(_ id: SessionID, at time: Timestamp) throws(Refusal) -> Session {
        guard let record = rows.records[RecordID(trusted: id.rawValue)],
            record.kind == Session.kind
        else {
            throw Refusal(.unknownSession)
        }
        return try readable(record).asOf(time)
    }

    /// Writes a session's next version. An event for merchants is added to the outbox in the same
    /// commit.
    ///
    /// - Parameter refund: The amount refunded with this change, in minor units.
    mutating func put(
        _ session: Session,
        refunding refund: Int64? = nil,
        at time: Timestamp
    ) {
        let record = session.record
        let isNewState = record.state != rows.records[record.id]?.state
        let kind = refund == nil ? (isNewState ? session.eventKind : nil) : .refunded
        let event = kind.map { kind in
            Event(kind: kind.rawValue, record: record, at: time, amount: refund)
        }
        put(record, event: event)
    }

    private func readable(_ record: Record) throws(Refusal) -> Session {
        do { return try Session(record) } catch { throw Refusal(.unreadable) }
    }
}

extension Session {
    /// The changes that merchants' own systems receive. The raw values are stored and sent.
    enum EventKind: String, CaseIterable, Sendable {
        case paid = "session.paid"
        case refunded = "session.refunded"
        case expired = "session.expired"
        case cancelled = "session.cancelled"
    }

    /// The event for entering the session's state; `nil` if there is none. For example, the end of
    /// a share's hold has none.
    fileprivate var eventKind: EventKind? {
        switch state {
        case .paid: .paid
        case .expired: share == nil ? .expired : nil
        case .cancelled: share == nil ? .cancelled : nil
        case .created, .advertising, .locked: nil
        }
    }
}
