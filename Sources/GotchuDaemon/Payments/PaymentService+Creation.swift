import GotchuAPI
import GotchuCore
import LocalAPI
import PaymentClient

/// The creation and cancellation of a payment that the user has agreed to.
///
/// `create` is in `IdempotentCreation` and calls `validate`, `created` and `make`.
extension PaymentService: IdempotentCreation, LocalCollection {
    /// The maximum number of further calls that can join one open payment.
    static let joinLimit = 16

    static func validate(_ new: NewPayment) throws(Problem) {
        guard Money.allowedRequest.contains(new.confirmAmountCents) else {
            throw Problem.invalid(
                "confirm_amount_cents must be 1 to \(Money.allowedRequest.upperBound)."
            )
        }
        let tips = Money.allowedTip(on: new.confirmAmountCents)
        guard tips.contains(new.tipCents ?? 0) else {
            throw Problem.invalid("tip_cents must be 0 to \(tips.upperBound) with this amount.")
        }
    }

    func created(under key: IdempotencyKey) -> (call: IdempotentCall, view: PaymentView)? {
        for record in payments where !isNotStarted(record) {
            for call in record.calls where call.key == key { return (call, view(record)) }
        }
        return nil
    }

    /// Returns the session of an EID. The user sees it before they agree.
    func resolve(_ eid: EID) async throws(Problem) -> ResolvedSession {
        var session = try await sessions.resolve(eid).getOrThrow(core.tokens)
        session.isPayeeKnown =
            session.payeeID != nil
            && payments.contains { $0.receipt != nil && $0.payeeID == session.payeeID }
        return session
    }

    /// Starts a payment that the user has agreed to. Returns once it is journalled.
    func make(_ new: NewPayment, call: IdempotentCall?) async throws(Problem) -> PaymentView {
        // The user who is logged in now has agreed. The login can change during the calls below.
        guard let user = core.tokens.identity else { throw .notLoggedIn(core.tokens) }
        let session = try await agreedSession(new)
        try await checkProximity(new, session.sid)
        let since = new.eid.flatMap { proximity.nearSince($0) }
        let open = payments.first {
            $0.isOpen && $0.sid == session.sid && !isNotStarted($0)
        }
        if let open {
            guard open.user == user else {
                throw Problem(
                    .paymentInProgress,
                    detail: "Somebody else, who was logged in before, is paying this.",
                    fix: "gotchu-ctl history"
                )
            }
            // If the same user presses twice, only one payment is made.
            guard open.amountCents == session.amountCents, open.tipCents == new.tipCents else {
                throw Problem(
                    .amountChanged,
                    detail: "\(open.amount) is being paid for this already.",
                    fix: "gotchu-ctl history"
                )
            }
            return try await join(open.id, call)
        }
        guard !starting.contains(session.sid), !unlocking.values.contains(session.sid) else {
            throw Problem(
                .paymentInProgress,
                detail: "A payment of this is being started, or was cancelled a moment ago.",
                fix: "Try again in a few seconds."
            )
        }
        let record = PaymentRecord(
            new: new,
            session: session,
            user: user,
            server: core.client.server.description,
            call: call
        )
        try await start(record, nearSince: since)
        return view(record)
    }

    /// Records another call for the same payment. If that call is repeated after the payment's end,
    /// it starts no second payment.
    private func join(_ id: String, _ call: IdempotentCall?) async throws(Problem) -> PaymentView {
        guard let call else { return try view(of: id) }
        await changes.lock()
        defer { changes.unlock() }
        guard var joined = record(id) as? PaymentRecord else { throw .noSuchPayment }
        guard joined.joined?.count ?? 0 < Self.joinLimit else {
            throw Problem(
                .paymentInProgress,
                detail: "This payment was asked for \(Self.joinLimit) times already.",
                fix: "gotchu-ctl history"
            )
        }
        joined.joined = (joined.joined ?? []) + [call]
        try await core.journal.require(joined.line)
        // The payment may have ended meanwhile without a journal write.
        if var now = record(id) as? PaymentRecord {
            now.joined = joined.joined
            update(now)
        }
        return try view(of: id)
    }

    /// Cancels a payment that was not sent. Returns an ended payment unchanged.
    ///
    /// - Throws: `NOT_FOUND`. `PAYMENT_IN_PROGRESS` if the record is an open refund, or if the
    ///   payment may have been sent. In the second case only the server knows the outcome.
    func cancel(_ id: String) async throws(Problem) -> PaymentView {
        await changes.lock()
        defer { changes.unlock() }
        guard let record = record(id) else { throw .noSuchPayment }
        guard record.isOpen else { return view(record) }
        guard var payment = record as? PaymentRecord, payment.isLocking else {
            throw Problem(
                .paymentInProgress,
                detail: "It may have been sent already, and ends as the payment server says.",
                fix: "gotchu-ctl history"
            )
        }
        payment.stage = .ended(.declined(.cancelled))
        payment.updatedAt = .now
        try await core.journal.require(payment.line)
        unlocking[id] = payment.sid
        update(payment)
        endWait(of: id)
        return view(payment)
    }
}

extension PaymentService {
    /// Returns the session to pay. Throws if it differs from the one that the user has confirmed.
    ///
    /// If one payer pays the session, a fresh cached answer is enough. Its amount, currency and
    /// payee never change. The lock reports its state, and the send repeats the amount. If several
    /// payers share the session, the server is asked each time: the next share may have another
    /// amount.
    private func agreedSession(_ new: NewPayment) async throws(Problem) -> ResolvedSession {
        guard let eid = new.eid else { return try Self.unverifiedSession(new) }
        let session = try await sessions.resolve(eid).getOrThrow(core.tokens)
        guard new.sid == nil || new.sid == session.sid else {
            throw Problem.invalid("eid and sid name two different sessions.")
        }
        guard session.amountCents == new.confirmAmountCents,
            new.confirmCurrency == nil || new.confirmCurrency == session.currency
        else {
            throw Problem(
                .amountChanged,
                detail: "The payee now asks for \(session.amount).",
                fix: "Look again, and confirm the new amount if it is right."
            )
        }
        guard new.tipCents == nil || session.allowsTip == true else {
            throw Problem(
                .tipNotAllowed,
                detail: "The payee takes no tip with this request.",
                fix: "Pay without a tip."
            )
        }
        guard new.confirmPayee == nil || new.confirmPayee == session.payee,
            new.confirmPayeeID == nil || new.confirmPayeeID == session.payeeID
        else {
            throw Problem(
                .payeeChanged,
                detail: "The payee is not the one that was confirmed.",
                fix: "Look again, and pay only whom you mean."
            )
        }
        return session
    }

    /// Returns a session that the caller gave by its id alone. The server checks the amount when
    /// the payment is sent. A tip is refused, because a server without tips would ignore it.
    private static func unverifiedSession(_ new: NewPayment) throws(Problem) -> ResolvedSession {
        guard let sid = new.sid else {
            throw Problem.invalid("eid or sid is missing.")
        }
        guard new.confirmPayee == nil, new.confirmPayeeID == nil, new.confirmCurrency == nil,
            new.proximity == nil, new.tipCents == nil
        else {
            throw Problem(
                .validationError,
                detail: "confirm_payee, confirm_payee_id, confirm_currency, proximity and "
                    + "tip_cents can only be checked with an eid."
            )
        }
        return ResolvedSession(
            sid: sid,
            amountCents: new.confirmAmountCents,
            currency: .usd,
            payee: "",
            payeeID: nil,
            memo: nil,
            status: nil,
            expiresAt: nil
        )
    }

    /// Throws if no EID of the session is heard now at the requested distance. If the session has
    /// ended meanwhile, throws how it ended instead. An EID without an answer is never left out: it
    /// may be that of the till which is meant.
    private func checkProximity(_ new: NewPayment, _ sid: SessionID) async throws(Problem) {
        guard let eid = new.eid, let wanted = new.proximity else { return }
        // The radio may have stopped listening while the user decided.
        await proximity.listenForPresences()
        if verdict(on: eid, sid) == .tap { return }
        let unresolved = await proximity.resolveRivals(of: sid)
        if unresolved == 0, isNear(eid, sid, wanted) { return }
        guard unresolved == 0 else {
            throw Problem(
                .ambiguous,
                detail: "The payment server has not said yet what else is as near, so it is not "
                    + "certain which till is meant.",
                fix: "Try again, or move closer to the right one."
            )
        }
        if verdict(on: eid, sid) == .ambiguous {
            throw Problem(
                .ambiguous,
                detail: "Two tills are equally near, so it is not certain which one is meant.",
                fix: "Move closer to the right one, or away from the other."
            )
        }
        // Somebody else may have paid while this user decided. The till is then silent.
        if let ended = await sessions.endOfSession(of: eid) { throw ended }
        throw Problem(
            .notNear,
            detail: "\(eid) is not at \(wanted.rawValue) distance.",
            fix: "Hold the device closer: gotchu-ctl scan"
        )
    }

    private func isNear(_ eid: EID, _ sid: SessionID, _ wanted: Verdict) -> Bool {
        let verdict = verdict(on: eid, sid)
        return verdict == .tap || (verdict == .near && wanted == .near)
    }

    private func verdict(on eid: EID, _ sid: SessionID) -> Verdict? {
        proximity.verdict(on: sid) ?? proximity.verdict(on: eid)
    }
}
