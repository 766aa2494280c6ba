import GotchuAPI
import GotchuCore
import LocalAPI
import PaymentClient

/// The payee's side: refunds of paid requests.
extension PaymentService {
    /// Refunds a paid request. Returns once the refund is journalled.
    ///
    /// If an earlier refund has the same session, amount and reference, that refund is returned,
    /// unless it was declined. A retry, for example after a lost answer, thus refunds nothing
    /// twice. The records here only save a call: the idempotency key is derived from the wish, and
    /// the server keeps it forever.
    ///
    /// - Parameter request: The paid request; `nil` if this machine does not have it.
    func refund(
        _ new: NewRefund,
        of request: RequestRecord?
    ) async throws(Problem) -> Created<PaymentView> {
        guard let user = core.tokens.identity else { throw .notLoggedIn(core.tokens) }
        var wish = new
        wish.currency = nil
        if let known = existingRefund(for: wish) {
            try Self.require(new.currency, toBe: known.currency)
            return Created(replayView(of: known), isReplay: true)
        }
        let amount = try await refundableAmount(for: wish, of: request)
        try Self.require(new.currency, toBe: amount.currency)
        // The same refund may have been started during the call.
        if let known = existingRefund(for: wish) {
            return Created(replayView(of: known), isReplay: true)
        }
        let earlier = refunds.filter { $0.sid == wish.sid }
        let isOneOpen = earlier.contains { $0.isOpen && !isNotStarted($0) }
        guard !starting.contains(wish.sid), !isOneOpen else {
            throw Problem(
                .paymentInProgress,
                detail: "Another refund of this request is under way.",
                fix: "gotchu-ctl history"
            )
        }
        let record = RefundRecord(
            wish,
            amount: amount,
            attempt: earlier.filter { $0.wish == wish }.map(\.attempt).max() ?? 0,
            user: user,
            server: core.client.server.description
        )
        try await start(record)
        return Created(view(record), isReplay: false)
    }

    /// Returns the oldest refund of a wish that was not declined.
    private func existingRefund(for wish: NewRefund) -> RefundRecord? {
        refunds.first { $0.wish == wish && $0.refusal == nil && !isNotStarted($0) }
    }

    /// Throws if the amount is in another currency: 500 yen are not 500 cents.
    private static func require(_ given: Currency?, toBe paid: Currency) throws(Problem) {
        guard let given, given != paid else { return }
        throw Problem(
            .validationError,
            detail: "This was paid in \(paid.rawValue), not in \(given.rawValue).",
            fix: "Say how much in \(paid.rawValue), or no amount for all that is left."
        )
    }

    /// Returns the view of an existing refund. If the refund is done, its receipt says that it was
    /// made before.
    private func replayView(of known: RefundRecord) -> PaymentView {
        var record = known
        if var receipt = record.receipt {
            receipt.wasMadeBefore = true
            record.stage = .ended(.paid(receipt))
        }
        return view(record)
    }

    /// Asks the server for the session and returns the amount to refund.
    private func refundableAmount(
        for wish: NewRefund,
        of request: RequestRecord?
    ) async throws(Problem) -> Money {
        let session: SessionReply
        do throws(Problem) {
            session = try await core.client.session(wish.sid).getOrThrow(core.tokens)
        } catch {
            guard error.errorCode == .notFound else { throw error }
            throw Problem(
                .notFound,
                detail: "The payment server knows no request \(wish.sid).",
                fix: "gotchu-ctl history"
            )
        }
        let wrong = session.wrongMembers(for: wish.sid, request)
        guard wrong.isEmpty else {
            throw Problem(
                .badServerAnswer,
                detail: "Nothing was refunded: the payment server's answer is not about this "
                    + "request (\(wrong.joined(separator: ", ")))."
            )
        }
        if let places = session.places, places.paid > 0 {
            throw .notRefundable(places)
        }
        let currency = session.currency ?? .usd
        guard session.status == .paid else {
            throw Problem(
                .sessionNotPaid,
                detail: "Nobody has paid this request, so nothing can be refunded."
            )
        }
        let refunded = session.refundedCents?.value ?? 0
        let amount = Money(minorUnits: session.amountCents.value, currency: currency)
        let paid = TippedAmount(amount, tip: session.tipCents?.value).total
        let rest = paid.minorUnits - refunded
        guard let amount = wish.amountCents else {
            guard rest > 0 else {
                throw Problem(.sessionRefunded, detail: "All that was paid is refunded already.")
            }
            return Money(minorUnits: rest, currency: currency)
        }
        // The refunded amount may include this refund, if it was made earlier. Only the server
        // knows.
        guard amount <= rest || refunded >= amount else {
            throw Problem(
                .refundTooLarge,
                detail: "Only \(Money(minorUnits: rest, currency: currency)) is left to refund."
            )
        }
        return Money(minorUnits: amount, currency: currency)
    }
}

extension Problem {
    /// Returns the problem with a refund of a whole shared bill or desk, which several people paid.
    fileprivate static func notRefundable(_ places: Places) -> Problem {
        guard places.kind == Places.entry else {
            let ids = (places.paidShares ?? []).map(\.rawValue).joined(separator: ", ")
            return Problem(
                .notRefundable,
                detail: "Nothing was refunded: a shared bill's shares are refunded one by one, "
                    + "each by its own id" + (ids.isEmpty ? "." : ": \(ids)."),
                fix: "gotchu-ctl earnings history"
            )
        }
        return Problem(
            .notRefundable,
            detail: "Nothing was refunded: an entry fee goes back when the entrant leaves the "
                + "contest, or when the contest is cancelled.",
            fix: "gotchu-ctl contest list"
        )
    }
}
