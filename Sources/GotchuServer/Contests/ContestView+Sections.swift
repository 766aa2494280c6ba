internal import Contests
internal import GotchuAPI
internal import GotchuCore
internal import Pages

/// The sections of a contest's page: the built-in ones, then those of the template.
extension ContestView {
    var sections: [ContestSection] {
        var sections = [summary, prizes, scoring]
        if let rule = template.roster { sections.append(rosterSection(rule)) }
        if let history { sections.append(history) }
        return sections + template.sections.map(own)
    }

    /// The declarations, disputes and the cancellation. Their reasons are not public, so only the
    /// organiser and entrants see them.
    var history: ContestSection? {
        guard isOrganizer || entry != nil else { return nil }
        var rows = declarations.map { declaration -> (time: Timestamp, text: String) in
            let body = declaration.body
            let text =
                body.dispute.map { words.disputedFor.filled($0) }
                ?? words.declared.filled("\(body.revision)")
            return (declaration.madeAt, text)
        }
        if let cancellation = contest.body.cancellation {
            let text =
                switch cancellation.source {
                case .organizer: words.cancelledFor.filled(cancellation.reason ?? "")
                case .operator: words.operatorCancelled.filled(cancellation.reason ?? "")
                case .time: words.abandoned
                }
            rows.append((cancellation.time, text))
        }
        guard !rows.isEmpty else { return nil }
        return ContestSection(
            type: "history",
            title: words.history,
            data: Self.rows(rows.map { ($0.time.minuteText, $0.text) })
        )
    }

    private static func rows(_ rows: [(label: String, value: String)]) -> JSONValue {
        let rows = rows.map { label, value in
            JSONValue.object(["label": .string(label), "value": .string(value)])
        }
        return .object(["rows": .array(rows)])
    }

    private var summary: ContestSection {
        let pool = contest.division.pool
        return ContestSection(
            type: "summary",
            data: .object([
                "entry_fee": .string(feeText),
                "prize_pool": .string(text(pool)),
                "entries": .string(entriesText),
                "entry_fee_cents": .integer(terms.fee),
                "prize_pool_cents": .integer(pool),
                "currency": .string(terms.currency.rawValue),
            ])
        )
    }

    private var scoring: ContestSection {
        let scoring = template.scoring
        let tieBreaker = scoring.tieBreaker?.text(in: language)
        return ContestSection(
            type: "scoring_overview",
            data: .object([
                "format": .string(scoring.format.text(in: language)),
                "rounds": scoring.rounds.map { .integer(Int64($0)) } ?? .null,
                "tie_breaker": tieBreaker.map(JSONValue.string) ?? .null,
            ])
        )
    }

    private func rosterSection(_ rule: RosterRule) -> ContestSection {
        ContestSection(
            type: "roster_config",
            data: .object([
                "roster_size": .integer(Int64(rule.size)),
                "positions": .array(rule.positions.map(JSONValue.string)),
                "salary_cap": rule.salaryCap.map(JSONValue.integer) ?? .null,
                "lock_time": .string(WireTime(terms.lockTime).description),
                "players": .array(
                    rule.players.map { player in
                        .object([
                            "player_id": .string(player.id), "name": .string(player.name),
                            "position": .string(player.position),
                            "salary": .integer(player.salary),
                        ])
                    }
                ),
            ])
        )
    }

    private func own(_ section: ContestTemplate.Section) -> ContestSection {
        ContestSection(
            type: section.type,
            title: section.title?.text(in: language),
            data: Self.rows(
                section.rows.map { ($0.label.text(in: language), $0.value.text(in: language)) }
            )
        )
    }

    /// The tiers. Once the contest is settled, each has the amount paid to it.
    var payoutTable: [PayoutTier] {
        let places = ["first", "second", "third"]
        return terms.tiers.enumerated().map { index, tier in
            let place = tier.rankMin == tier.rankMax && tier.rankMin <= 3
            return PayoutTier(
                rankMin: WireCount(tier.rankMin),
                rankMax: WireCount(tier.rankMax),
                amountCents: result.map { WireCount($0.paid(toTier: index + 1)) },
                payoutPercent: Self.percent(tier.shareBPS * 100),
                currency: terms.currency,
                place: place ? places[Int(tier.rankMin) - 1] : nil
            )
        }
    }

    var rosterConfig: RosterConfig {
        guard let rule = template.roster else {
            return RosterConfig(entryFields: [:], validationRules: [:])
        }
        return RosterConfig(
            entryFields: ["roster": .string("player_id")],
            validationRules: [
                "roster_size": .integer(Int64(rule.size)),
                "positions": .array(rule.positions.map(JSONValue.string)),
                "salary_cap": rule.salaryCap.map(JSONValue.integer) ?? .null,
            ]
        )
    }
}
