internal import Contests
internal import GotchuAPI
internal import GotchuCore
internal import Ledger
internal import Pages

/// A contest as one viewer may see it, in one language. A pure function of the data that was read.
struct ContestView: Sendable {
    let contest: Contest
    let template: ContestTemplate
    let viewer: UserID?
    /// The server's address for browsers; `nil` without one.
    let origin: String?
    /// The viewer's current entry; `nil` without one, and in lists.
    var entry: ContestEntry?
    var hasObjected = false
    var objections: [Objection] = []
    /// The newest declarations; empty for viewers other than the organiser and entrants.
    var declarations: [Declaration] = []
    /// The standings and prizes; `nil` until the contest is settled, and in lists.
    var result: ContestResult?
    let language: Language
    let now: Timestamp

    var words: ContestWords { language.contests }
    var isOrganizer: Bool { viewer == contest.organizer }
    var terms: ContestTerms { contest.terms }
    var path: String { "/api/contests/\(contest.id)" }

    func text(_ amount: Int64) -> String {
        words.text(Money(minorUnits: amount, currency: terms.currency))
    }

    var feeText: String { terms.fee == 0 ? words.free : text(terms.fee) }

    var entriesText: String {
        words.entries.filled(
            "\(contest.body.entryCount)",
            "\(terms.maxEntries)"
        )
    }

    /// Returns a template's address with this server's origin, if it is only a path.
    private func absolute(_ address: String) -> String {
        address.hasPrefix("/") ? (origin ?? "") + address : address
    }

    var detail: ContestDetail {
        get throws(LedgerError) {
            var detail = ContestDetail(
                id: try WireUUID(of: contest.id),
                type: terms.type,
                state: contest.wireState,
                status: contest.wireStatus,
                leaderboardState: contest.leaderboardState,
                display: ContestDetail.Display(
                    title: terms.title,
                    description: terms.description,
                    rulesURL: template.rulesURL.map(absolute)
                ),
                templateID: try WireUUID(checked: terms.template),
                organizerID: try WireUUID(checked: contest.organizer.contestID),
                organizerName: contest.body.organizerName,
                times: (
                    contest.createdAt, Timestamp(milliseconds: contest.body.updatedAt),
                    terms.lockTime, terms.startTime
                ),
                endTime: terms.endTime,
                counts: (WireCount(contest.body.entryCount), WireCount(terms.maxEntries)),
                entryFeeCents: WireCount(terms.fee),
                version: WireCount(contest.version)
            )
            let isOpen = [.draft, .open].contains(contest.state)
            detail.isLocked = !isOpen
            detail.joinToken = Nullable(maySeeInvitation ? contest.body.invitation : nil)
            detail.payoutTable = payoutTable
            detail.rosterConfig = rosterConfig
            detail.sections = sections
            detail.actionList = actionList
            detail.actions = actions(detail.actionList)
            detail.userHasEntered = entry != nil
            detail.entry = try entry.map { entry throws(LedgerError) in try EnteredRoster(entry) }
            detail.revision = WireCount(contest.body.revision)
            detail.objected = hasObjected ? true : nil
            if isOrganizer, !objections.isEmpty {
                detail.objectionCount = WireCount(contest.body.objections)
                detail.objections = objections.map { objection in
                    ContestDetail.Objection(
                        entryNumber: WireCount(objection.body.entry),
                        username: objection.body.name,
                        text: objection.body.text,
                        madeAt: objection.madeAt
                    )
                }
            }
            return detail
        }
    }

    /// A Boolean that is true if the viewer may share the invitation, and entries are still
    /// possible.
    var maySeeInvitation: Bool {
        contest.body.invitation != nil && (isOrganizer || entry != nil)
            && [.draft, .open].contains(contest.state)
    }

    var card: ContestCard {
        get throws(LedgerError) {
            ContestCard(
                id: try WireUUID(of: contest.id),
                type: terms.type,
                state: contest.wireState,
                display: ContestCard.Display(
                    title: terms.title,
                    subtitle: "\(contest.body.organizerName), \(terms.startTime.minuteText)",
                    badge: template.badge.text(in: language),
                    statusLabel: statusLabel
                ),
                timing: ContestCard.Timing(
                    completesAt: terms.endTime,
                    locksAt: terms.lockTime,
                    startsAt: terms.startTime
                ),
                entry: ContestCard.Entry(
                    currency: terms.currency,
                    currentEntries: WireCount(contest.body.entryCount),
                    entryFeeCents: WireCount(terms.fee),
                    maxEntries: WireCount(terms.maxEntries)
                ),
                presentation: ContestCard.Presentation(
                    heroImageURL: absolute(template.imagePath),
                    icon: template.icon,
                    primaryColor: template.color
                ),
                version: WireCount(contest.version)
            )
        }
    }

    private var statusLabel: String {
        switch contest.state {
        case .draft: words.draft
        case .open: entriesText
        case .locked: words.closed
        case .live: words.live
        case .complete: contest.isDisputed ? words.disputed : words.review
        case .settled: words.paid
        case .cancelled: words.over
        case .error: words.stopped
        }
    }
}

extension Contest.State {
    /// The state in the terms of lists.
    var wire: ContestState {
        switch self {
        case .draft, .open: .scheduled
        case .locked: .locked
        case .live: .live
        case .complete: .complete
        case .settled: .paid
        case .cancelled: .cancelled
        case .error: .error
        }
    }
}

extension Contest {
    /// The state in the terms of lists.
    var wireState: ContestState { state.wire }

    /// The state in the terms of details.
    var wireStatus: ContestStatus {
        switch state {
        case .draft: .scheduled
        case .open: .active
        case .locked: .closed
        case .live, .complete: .scoring
        case .settled: .settled
        case .cancelled: .cancelled
        case .error: .error
        }
    }

    /// The state of the leaderboard. If a contest with scores is cancelled or stopped, it is
    /// `scoring`.
    var leaderboardState: LeaderboardState {
        switch state {
        case .draft, .open: .open
        case .locked: .locked
        case .live: .scoring
        case .complete: isDisputed ? .disputed : .scored
        case .settled: .settled
        case .cancelled, .error: body.revision > 0 ? .scoring : .open
        }
    }
}

extension UserID {
    /// The public id of an organiser. It is stable, and differs from the user's id.
    var contestID: String { computedID("organizer", rawValue) }
}

extension Timestamp {
    /// The date and time in UTC, to the minute, for people.
    var minuteText: String { "\(iso8601.prefix(10)) \(iso8601.dropFirst(11).prefix(5)) UTC" }
}

extension WireUUID {
    init(of record: RecordID) throws(LedgerError) {
        try self.init(checked: record.rawValue)
    }

    /// - Throws: `LedgerError` with `corrupt` if the stored text is not a UUID.
    init(checked text: String) throws(LedgerError) {
        guard let id = WireUUID(text) else { throw .corrupt("an id of a contest") }
        self = id
    }
}

extension EnteredRoster {
    init(_ entry: ContestEntry) throws(LedgerError) {
        var roster: [Player] = []
        for id in entry.roster { roster.append(Player(playerID: try WireUUID(checked: id))) }
        self.init(
            entryID: try WireUUID(of: entry.id),
            entryNumber: WireCount(entry.number),
            roster: roster,
            rosterVersion: WireCount(entry.body.rosterVersion)
        )
    }
}
