package import GotchuCore
package import Ledger

extension TransferKind {
    /// The kind of transfer that puts money into a pot.
    package static let stake = TransferKind(
        "STAKE",
        from: [.user],
        to: [.pot],
        steps: .any(of: [.numbered("in"), .once("prize")]),
        debitName: "SEND_P2P",
        creditName: "SEND_P2P",
        isAnswered: nil
    )

    /// The kind of transfer that ends a pot by paying out its money to those who earned it.
    package static let release = TransferKind(
        "RELEASE",
        from: [.pot],
        to: [.user, .houseOf(.take)],
        steps: .once("end"),
        debitName: "RECEIVE_P2P",
        creditName: "RECEIVE_P2P",
        earner: .receiver,
        isAnswered: false
    )

    /// The kind of transfer by which a pot returns money to its payers.
    package static let returned = TransferKind(
        "RETURN",
        from: [.pot],
        to: [.user],
        steps: .any(of: [.numbered("out"), .once("end")]),
        debit: .refund,
        credit: .refund,
        debitName: "RECEIVE_REFUND",
        creditName: "RECEIVE_REFUND",
        isAnswered: nil
    )
}

/// A bill that several people share. A plain share is credited to the payee at once; an
/// all-or-nothing share stays in the pot until the last one is paid.
package struct Split: GroupPurpose {
    package static let name = "split"
    /// The allowed numbers of shares of one bill.
    package static let allowedShares = 2...50
    /// The allowed lifetimes, in seconds.
    package static let allowedSeconds = 1...3_600
    /// The step of the transfer that ends a pot.
    static let end = "end"

    package init() {}

    /// Returns the step of the transfer that pays for a place into the pot.
    static func step(of place: Int64) -> String { "in/\(place)" }

    package func touch(
        _ footprint: inout Footprint,
        for group: Group,
        by payer: UserID,
        knowing rows: Snapshot,
        isPaying: Bool
    ) {
        if isPaying, group.isAllOrNothing { footprint.owners.insert(group.pot.owner) }
    }

    package func choose(
        for request: PlaceRequest,
        in group: Group,
        on books: Books,
        at time: Timestamp
    ) throws(Refusal) -> Int64 {
        let free = group.freePlaces
        if let place = request.place {
            guard free.contains(place) else { throw Refusal(.shareTaken) }
            let amount = group.amount(of: place)
            if let expected = request.expectedAmount, expected != amount {
                throw Refusal(.amountChanged)
            }
            return place
        }
        // A second share can be paid only by naming it, so that nobody pays twice by accident.
        if group.paidClaims.contains(where: { $0.payer == request.payer }) {
            throw Refusal(.sessionPaid)
        }
        let unpaid = group.unpaidPlaces
        if let expected = request.expectedAmount {
            if let place = free.first(where: { group.amount(of: $0) == expected }) { return place }
            let isHeld = unpaid.contains { group.amount(of: $0) == expected }
            throw Refusal(isHeld ? .sessionBusy : .amountChanged)
        }
        // If the unpaid shares have different amounts, none is chosen: the payer may have seen
        // another amount. A later retry would get no other answer.
        guard Set(unpaid.compactMap(group.amount(of:))).count <= 1 else {
            throw Refusal(.amountChanged)
        }
        guard let place = free.first else { throw Refusal(.sessionBusy) }
        return place
    }

    package func pay(
        _ share: Session,
        by payer: UserID,
        of paid: Group,
        on books: inout Books,
        at time: Timestamp
    ) throws(Refusal) -> Transfer {
        let amount = share.amount
        let source = Account.Key(.user(payer), amount.currency)
        let payee = Account.Key(.user(paid.payee), amount.currency)
        guard let details = share.share else { throw Refusal(.unreadable) }
        guard paid.isAllOrNothing else {
            let transfer = try books.post(
                .payment,
                share.paymentLines(from: payer),
                record: share.recordID,
                step: "paid",
                at: time
            )
            // The store rejects a second share with this name, as it rejects a duplicate step.
            books.put(Name(details.placeName, target: share.id.rawValue))
            return transfer
        }
        let total = paid.paidAmount
        if paid.isFinal { try books.require(room: total, of: .release, in: payee) }
        let transfer = try books.post(
            .stake,
            [(source, -amount.minorUnits), (paid.pot, amount.minorUnits)],
            record: paid.recordID,
            step: Self.step(of: details.place),
            at: time
        )
        if paid.isFinal {
            try books.post(
                .release,
                paid.releaseLines,
                record: paid.recordID,
                step: Self.end,
                at: time
            )
        }
        return transfer
    }
}

extension Session.Share {
    /// The unique name of a place that is paid at once: it refers to the share that has paid it.
    var placeName: String { "\(group)/\(Split.step(of: place))" }
}
