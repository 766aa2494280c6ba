import GotchuAPI
import GotchuCore
import PaymentClient

/// Whether what is to be paid is what a person has agreed to.
extension PaymentService {
    /// The session that is to be paid, if it is what the person has seen.
    func agreedSession(_ new: NewPayment) async throws(Problem) -> ResolvedSession {
        guard let eid = new.eid else { return try Self.unresolved(new) }
        let session = ResolvedSession(try await client.resolve(eid).getOrThrow(tokens))
        guard new.sid == nil || new.sid == session.sid else {
            throw Problem(.validationError, detail: "eid and sid name two different sessions.")
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

    /// A session that was named by its id alone: the server checks the amount when it is sent. Not
    /// so a tip: a server that knows of none would leave it out.
    private static func unresolved(_ new: NewPayment) throws(Problem) -> ResolvedSession {
        guard let sid = new.sid else {
            throw Problem(.validationError, detail: "eid or sid is missing.")
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

    /// Refuses an EID that is not as near as was asked for at this moment, unless its session is
    /// by another EID of it.
    func checkProximity(_ new: NewPayment, _ sid: SessionID) async throws(Problem) {
        guard let eid = new.eid, let wanted = new.proximity else { return }
        // While the person made up their mind, the radio may have ended to listen.
        await presences.hear()
        let verdict = presences.verdict(on: sid) ?? presences.verdict(on: eid)
        let isNear = verdict == .tap || (verdict == .near && wanted == .near)
        if isNear { return }
        if verdict == .ambiguous {
            throw Problem(
                .ambiguous,
                detail: "Two tills are equally near, so it is not certain which one is meant.",
                fix: "Move closer to the right one, or away from the other."
            )
        }
        throw Problem(
            .notNear,
            detail: "\(eid) is not at \(wanted.rawValue) distance.",
            fix: "Hold the device closer: gotchu-ctl scan"
        )
    }
}
