internal import Contests
internal import GotchuAPI
internal import GotchuCore
internal import HTTPTypes
internal import Hummingbird
internal import Ledger
internal import Payments

/// The payer's pages of one request: its details, the form that pays it, and the result.
///
/// Opening a page locks nothing and sends nothing to a till. Its look-up of the EID counts towards
/// the same rate limits as the API's.
struct PayRoutes: Sendable {
    let gate: WebGate
    let ledger: Ledger

    /// Shows the input field for an EID. If the query contains an EID, redirects to its page.
    @Sendable func enter(
        _ request: Request,
        _ context: ServerContext
    ) async throws -> Response {
        guard let typed = request.uri.queryParameters["eid"].map({ String($0) }) else {
            return PayPage.enter(in: request.language).response()
        }
        guard let eid = EID(typed.filter { $0 != " " && $0 != "+" }) else {
            return PayPage.enter(rejecting: typed, in: request.language)
                .response(status: .badRequest)
        }
        return gate.redirect(to: WebPath.request(eid))
    }

    @Sendable func show(
        _ request: Request,
        _ context: ServerContext
    ) async throws -> Response {
        let visit = try await gate.visit(request, context)
        let subject =
            visit.map { RateLimitSubject.login(Login(user: $0.user)) } ?? .address(context.client)
        try gate.limits.allowResolve(as: subject)
        guard let eid = Self.eid(in: context), let published = try await ledger.published(eid)
        else {
            gate.limits.countMiss(by: subject)
            return PayPage.unknown(in: request.language)
                .response(for: visit, status: .notFound)
        }
        let page = PayPage(
            eid: eid,
            session: try await session(published, for: visit?.user),
            payee: published.payeeName,
            now: ledger.now,
            language: request.language
        )
        guard let visit else { return page.loggedOutPage.response() }
        if let contest = try await ledger.contest(enteredAt: published.session),
            let refusal = try await ledger.entryRefusal(of: visit.user, to: contest)
        {
            return page.closed(refusal, contest.id).response(for: visit)
        }
        let balance = try await balance(of: visit.user, in: page.session.amount.currency)
        return page.view(for: visit, balance: balance).response(for: visit)
    }

    /// Returns a session as a visitor sees it. For a group it is the visitor's own share if they
    /// hold or have paid one, except a paid share of a contest that they have left.
    private func session(_ published: PublishedSession, for user: UserID?) async throws -> Session {
        guard let user, published.record.kind == Group.kind else { return published.session }
        let group = try Group(published.record)
        guard var own = try await ledger.ownShare(of: group, for: user),
            try await hasCurrentEntry(for: group.sale, at: own, user: user)
        else { return published.session }
        own.eid = group.eid
        return own
    }

    /// Returns false for a paid share of a contest if the user has left the contest; else true.
    private func hasCurrentEntry(
        for sale: Group.Sale?,
        at share: Session,
        user: UserID
    ) async throws -> Bool {
        guard let sale, share.status == .paid else { return true }
        let entry = try await ledger.record(named: ContestID.entryName(sale.record, user))
        return entry.map { $0.until == nil } ?? false
    }

    /// Returns the balance in a currency; `nil` if the user has no wallet in it.
    private func balance(of user: UserID, in currency: Currency) async throws -> Money? {
        let history = try await ledger.history(of: Account.Key(.user(user), currency), .newest)
        return history.map { Money(minorUnits: $0.account.balance, currency: currency) }
    }

    // MARK: The form

    /// The result of an attempt to pay.
    private enum Attempt {
        /// The ledger has an answer for the form's key: a payment or a refusal.
        case decided
        /// The session differs from the one that the payer saw. No payment was tried.
        case changed
        /// The payment was refused, and the key has no answer. Nothing was charged.
        case refused
    }

    @Sendable func pay(_ form: inout WebForm) async throws -> Response {
        guard let eid = Self.eid(in: form.visit.context) else { throw Problem.noSuchPage }
        let request = WebPath.request(eid)
        guard let payment = try PaymentForm(&form.fields) else {
            return gate.redirect(to: request, saying: .malformedTip)
        }
        try form.fields.end()
        let result = ResultAddress(of: payment, eid).text(for: form.visit.token)
        do {
            switch try await attempt(payment, by: form.visit) {
            case .decided: return gate.redirect(to: result)
            case .changed: return gate.redirect(to: request, saying: .requestChanged)
            case .refused: return gate.redirect(to: request, saying: .notCharged)
            }
        } catch is LedgerError {
            // The payer may have been charged, by this or an earlier submission of the form. The
            // result page shows the outcome.
            return gate.redirect(to: result)
        }
    }

    private func attempt(_ form: PaymentForm, by visit: WebVisit) async throws -> Attempt {
        if try await answer(to: form.key, of: visit.user) != nil { return .decided }
        let record = try await ledger.record(RecordID(form.session))
        guard let session = try record?.session, form.agrees(with: session) else {
            return .changed
        }
        let locked = try await ledger.submit(
            LockSession(
                session: form.session,
                payer: visit.user,
                expectedAmount: form.amount.minorUnits,
                purposes: .all
            )
        )
        guard case .success = locked else {
            // If the form was sent twice, the other copy may have been decided meanwhile.
            return try await answer(to: form.key, of: visit.user) == nil ? .refused : .decided
        }
        let amount = form.amount.minorUnits
        let reply = try await ledger.submit(
            Pay(
                session: form.session,
                payer: visit.user,
                expectedAmount: amount,
                tip: form.tip,
                purposes: .all
            ),
            as: KeyedRequest(
                visit,
                form.key,
                .payment(form.session, expecting: amount, tip: form.tip)
            )
        )
        guard case .failure = reply.outcome else { return .decided }
        // The refusal is definite. Unlocking lets others pay before the lock expires.
        _ = try? await ledger.submit(
            UnlockSession(session: form.session, payer: visit.user, purposes: .all)
        )
        return reply.isRemembered ? .decided : .refused
    }

    private func answer(
        to key: IdempotencyKey,
        of user: UserID
    ) async throws(LedgerError) -> Answer? {
        try await ledger.answer(Answer.Key(user: user, command: Pay.name, key: key))
    }

    // MARK: The result

    /// Shows the result of a payment: the answer of its key. If there is no answer and the session
    /// is open, the page reloads itself. Only if this browser has submitted the payment, the page
    /// has a form that sends it again.
    ///
    /// The session counts as open until its end is stored: even past its time, a commit in progress
    /// may still pay it. The session is read before the answer. If it has ended by then and there
    /// is no answer afterwards, there will never be one.
    @Sendable func result(_ visit: WebVisit) async throws -> Response {
        guard let eid = Self.eid(in: visit.context),
            let address = try ResultAddress(visit.request, eid)
        else { throw Problem.noSuchPage }
        let seen = try await session(address.session, of: visit.user)
        let answer = try await answer(to: address.key, of: visit.user)
        guard answer?.concerns(address.session) ?? true,
            var session = answer == nil
                ? seen : try await session(address.session, of: visit.user, paidBy: answer),
            let payee = try await ledger.record(named: Session.name(of: session.eid))?.ownerName
        else { throw Problem.noSuchPage }
        let submitted = address.payment(of: session, by: visit.token)
        if let submitted, session.figures != nil {
            // For a group, the form was for one share, not for the whole amount.
            session.amount = submitted.amount
        }
        let page = PayPage(
            eid: eid,
            session: session,
            payee: payee,
            now: ledger.now,
            language: visit.language
        )
        guard let answer else {
            return page.unknownOutcome(of: submitted, for: visit).response(for: visit)
        }
        switch try CommandReply<Pay.Outcome>(answer).outcome {
        case .success(let paid):
            let time = visit.localizedZone.time(answer.decidedAt)
            return page.paid(paid, at: time).response(for: visit)
        case .failure(let refusal):
            return page.refused(refusal, for: visit.user).response(for: visit)
        }
    }

    /// Returns a session as stored. For a group it is the first of these that exists: the share
    /// that `answer` has paid; the user's own paid share, unless it is of a contest that they have
    /// left; the whole group.
    private func session(
        _ sid: SessionID,
        of user: UserID,
        paidBy answer: Answer? = nil
    ) async throws -> Session? {
        guard let record = try await ledger.record(RecordID(sid)) else { return nil }
        guard record.kind == Group.kind else { return try record.session }
        let group = try Group(record)
        if let paid = try await ledger.share(paidBy: answer, of: group) { return paid }
        guard let own = try await ledger.ownShare(of: group, for: user), own.status == .paid,
            try await hasCurrentEntry(for: group.sale, at: own, user: user)
        else { return group.payeeSession }
        return own
    }

    private static func eid(in context: ServerContext) -> EID? {
        context.parameters.get("eid").flatMap { EID($0) }
    }
}

extension Problem {
    static var noSuchPage: Problem { Problem(.notFound, detail: "There is no such page.") }
}

extension Answer {
    /// Returns true if the answer is about the session. For a group or a share, it may be about any
    /// share of the same group.
    fileprivate func concerns(_ session: SessionID) -> Bool {
        guard let group = session.group else { return record == RecordID(session) }
        return (soldShare ?? SessionID(rawValue: record.rawValue))?.group == group
    }
}
