import GotchuAPI
import GotchuCore
import LocalAPI
import PaymentClient

/// The payee's side of giving money back.
extension PaymentService {
    /// Gives back what a request was paid. Returns once the journal has it.
    ///
    /// What has the same session, amount and reference as an earlier refund is that refund, unless
    /// the earlier one was declined: a person who asks again because no answer came, or because a
    /// window was closed, gives nothing back twice. What is remembered here is only the quick way
    /// to see that: the key follows from the wish, so that the server knows it too, for ever.
    func refund(_ wish: NewRefund) async throws(Problem) -> Created<PaymentView> {
        guard let payee = tokens.identity else { throw .notLoggedIn(tokens) }
        var new = wish
        new.currency = nil
        if let known = known(new) {
            try Self.require(wish.currency, toBe: known.currency)
            return Created(repeated(known), isReplay: true)
        }
        let amount = try await refundable(new)
        try Self.require(wish.currency, toBe: amount.currency)
        // Somebody else may have asked meanwhile.
        if let known = known(new) { return Created(repeated(known), isReplay: true) }
        guard !isStarting(new.sid), !refunds(of: new.sid).contains(where: \.isOpen) else {
            throw Problem(
                .paymentInProgress,
                detail: "Another refund of this request is under way.",
                fix: "gotchu-ctl history"
            )
        }
        let record = PaymentRecord(
            new: new,
            amount: amount,
            attempt: refunds(of: new.sid).filter { $0.refund == new }.compactMap(\.attempt).max()
                ?? 0,
            payee: payee,
            server: client.server.description
        )
        try await start(record)
        return Created(view(record), isReplay: false)
    }

    private func known(_ new: NewRefund) -> PaymentRecord? {
        refunds(of: new.sid).first { $0.refund == new && $0.stage != .declined }
    }

    /// An amount is digits: 500 yen are not 500 cents.
    private static func require(_ given: Currency?, toBe paid: Currency) throws(Problem) {
        guard let given, given != paid else { return }
        throw Problem(
            .validationError,
            detail: "This was paid in \(paid.rawValue), not in \(given.rawValue).",
            fix: "Say how much in \(paid.rawValue), or no amount for all that is left."
        )
    }

    /// What somebody is told who asks for the same once more: if it was made, that it was before.
    private func repeated(_ known: PaymentRecord) -> PaymentView {
        var record = known
        record.receipt?.wasMadeBefore = true
        return view(record)
    }

    /// How much that is, in figures.
    private func refundable(_ new: NewRefund) async throws(Problem) -> Money {
        let session: SessionReply
        do throws(Problem) {
            session = try await client.session(new.sid).getOrThrow(tokens)
        } catch {
            guard error.errorCode == .notFound else { throw error }
            throw Problem(
                .notFound,
                detail: "The payment server knows no request \(new.sid).",
                fix: "gotchu-ctl history"
            )
        }
        let currency = session.currency ?? .usd
        guard session.status == .paid else {
            throw Problem(
                .sessionNotPaid,
                detail: "Nobody has paid this request, so nothing can go back."
            )
        }
        let refunded = session.refundedCents?.value ?? 0
        let amount = Money(minorUnits: session.amountCents.value, currency: currency)
        let paid = TippedAmount(amount, tip: session.tipCents?.value).total
        let rest = paid.minorUnits - refunded
        guard let amount = new.amountCents else {
            guard rest > 0 else {
                throw Problem(.sessionRefunded, detail: "All that was paid has gone back already.")
            }
            return Money(minorUnits: rest, currency: currency)
        }
        // What has gone back may have been this very refund, long ago: only the server knows.
        guard amount <= rest || refunded >= amount else {
            throw Problem(
                .refundTooLarge,
                detail: "Only \(Money(minorUnits: rest, currency: currency)) is left to give back."
            )
        }
        return Money(minorUnits: amount, currency: currency)
    }
}
