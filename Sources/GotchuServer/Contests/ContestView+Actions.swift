internal import Contests
internal import GotchuAPI
internal import Ledger
internal import Pages

/// The viewer's actions. An action that is not possible has the reason.
extension ContestView {
    private typealias Reason = ContestAction.Reason

    var actionList: [ContestAction] {
        var list = isOrganizer ? [] : entrantActions
        list.append(action("leaderboard", words.results, boardReason, .get))
        if isOrganizer || entry != nil {
            let isShown = contest.state == .settled || isOrganizer && contest.canBeSettled
            let reason = isShown ? nil : notNow
            list.append(action("settlement", words.settlement, reason, .get))
        }
        return isOrganizer ? list + organizerActions : list
    }

    /// Returns the actions with the field names of the first clients.
    func actions(_ list: [ContestAction]) -> ContestActions {
        func isEnabled(_ id: String) -> Bool { list.contains { $0.id == id && $0.enabled } }
        var actions = ContestActions()
        actions.canJoin = isEnabled("join")
        actions.canUnjoin = isEnabled("leave")
        actions.canEditRoster = isEnabled("roster")
        actions.canEditEntry = actions.canEditRoster
        actions.canViewLeaderboard = isEnabled("leaderboard")
        actions.canShareInvite = maySeeInvitation
        actions.canManageContest = isOrganizer && !contest.isOver
        actions.canDelete = isEnabled("delete")
        actions.isLive = contest.state == .live
        actions.isScoring = contest.state == .live || contest.state == .complete
        actions.isScored = contest.state == .settled || contest.state == .complete
        actions.isClosed = ![.draft, .open].contains(contest.state)
        actions.isReadOnly = contest.isOver
        return actions
    }

    /// - Parameter path: The path after the contest's own path; by default a slash and the action's
    ///   id.
    private func action(
        _ id: String,
        _ label: String,
        _ reason: Reason?,
        _ method: ContestAction.Method = .post,
        path: String? = nil,
        confirm: String? = nil,
        needsKey: Bool? = nil
    ) -> ContestAction {
        ContestAction(
            id: id,
            label: label,
            reason: reason,
            method: method,
            href: self.path + (path ?? "/\(id)"),
            confirm: confirm,
            needsKey: needsKey
        )
    }

    private var entrantActions: [ContestAction] {
        let isFree = terms.fee == 0
        var list = [
            action(
                "join",
                isFree ? words.join : words.joinFor.filled(feeText),
                joinReason,
                confirm: isFree ? nil : words.confirmJoin.filled(feeText),
                needsKey: true
            )
        ]
        guard entry != nil else { return list }
        let locked = lockedReason
        list.append(
            action(
                "leave",
                words.leave,
                locked,
                confirm: isFree ? nil : words.confirmLeave.filled(feeText),
                needsKey: true
            )
        )
        if template.roster != nil {
            list.append(action("roster", words.roster, locked, path: "/entries"))
        }
        let isReview = contest.isOpenToObjections(at: now)
        list.append(
            action(
                "object",
                words.object,
                isReview ? hasObjected ? Reason(.contestState, words.objected) : nil : notNow,
                path: "/objections"
            )
        )
        return list
    }

    private var organizerActions: [ContestAction] {
        let isHidden = contest.body.isDeleted
        let isDraft = contest.state == .draft && !isHidden && now < terms.lockTime
        let canScore = contest.scoreRefusal == nil
        let isCompletable =
            contest.body.revision > 0
            && (contest.state == .live || contest.state == .complete && contest.isDisputed)
        let canDispute = contest.state == .complete && !contest.isDisputed
        let canSettle = contest.state == .complete && contest.settleRefusal(at: now) == nil
        let canCancel = contest.cancelRefusal == nil && !contest.isOver
        let canDelete = (contest.isOver || contest.state == .draft) && !isHidden
        // A live contest is published and locked: a declared result would allow neither.
        let begun = contest.state == .live ? Reason(.contestState, words.locked) : notNow
        return [
            action("publish", words.publish, isDraft ? nil : begun, needsKey: true),
            action("lock", words.lock, contest.state == .open ? nil : begun),
            action("score", words.score, canScore ? nil : notNow, path: "/scores"),
            action("complete", words.complete, isCompletable ? nil : canScore ? noScores : notNow),
            action("dispute", words.dispute, canDispute ? nil : notNow),
            action(
                "settle",
                words.settle,
                canSettle ? nil : contest.isDisputed ? disputed : notNow,
                confirm: words.confirmSettle,
                needsKey: true
            ),
            action(
                "cancel",
                words.cancel,
                canCancel ? nil : notNow,
                confirm: words.confirmCancel,
                needsKey: true
            ),
            action("delete", words.delete, canDelete ? nil : notNow, .delete, path: ""),
        ]
    }

    private var joinReason: Reason? {
        if let lockedReason { return lockedReason }
        guard viewer != nil else { return Reason(.unauthorized, words.logIn) }
        if entry != nil { return Reason(.alreadyJoined, words.joined) }
        guard contest.hasPlace(for: viewer, at: now) else {
            return Reason(.contestFull, words.full.filled("\(terms.maxEntries)"))
        }
        return nil
    }

    private var boardReason: Reason? { contest.body.revision > 0 ? nil : noScores }

    /// The reason for an action that the contest's state does not allow. Its text describes the
    /// state.
    private var notNow: Reason { Reason(.contestState, stateText) }

    private var stateText: String {
        switch contest.state {
        case .draft: now < terms.lockTime ? words.unpublished : words.locked
        case .open: words.openUntil.filled(terms.lockTime.minuteText)
        case .locked: words.startsAt.filled(terms.startTime.minuteText)
        case .live: words.undeclared
        case .complete:
            contest.settlesAt.map { words.settlesAt.filled($0.minuteText) }
                ?? words.disputed
        case .settled: words.wasPaid
        case .cancelled: words.cancelled
        case .error: words.stopped
        }
    }

    private var noScores: Reason { Reason(.noScores, words.noScores) }

    private var disputed: Reason { Reason(.contestDisputed, words.disputed) }

    /// The reason why nobody can enter or leave; `nil` if that is possible.
    private var lockedReason: Reason? {
        switch contest.lockedReason {
        case nil: nil
        case .contestCancelled?: Reason(.contestCancelled, words.cancelled)
        case .contestLocked?: Reason(.contestLocked, words.locked)
        case .some: notNow
        }
    }
}

extension ContestAction.Reason {
    fileprivate init(_ code: ErrorCode, _ text: String) {
        self.init(code: code.rawValue, text: text)
    }
}
