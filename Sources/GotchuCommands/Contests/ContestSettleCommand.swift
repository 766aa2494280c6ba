import ArgumentParser
import GotchuAPI
import GotchuCore
import LocalAPI

/// `gotchu-ctl contest settle`: shows the prizes, and pays them.
struct ContestSettleCommand: ContestVerb {
    static let configuration = CommandConfiguration(
        commandName: "settle",
        abstract: "Show the prizes of a complete contest, and pay them.",
        discussion: """
            EXAMPLES:
              gotchu-ctl contest settle ID
              gotchu-ctl contest settle ID --yes

            Asks before anything is paid. Once settled, nothing changes any more. Nothing is paid \
            before the time for objections is over; then it settles by itself, too.
            """
    )

    @OptionGroup var options: CommonOptions

    @Argument(help: "The contest's id.")
    var contest: String

    @Flag(help: "Do not ask.")
    var yes = false

    func run(_ access: ContestAccess, _ output: Output) async throws {
        let detail = try await access.detail().document
        let isSettled = detail.state == .paid
        if let reason = detail.action("settle")?.reason, !isSettled {
            throw CommandFailure.negative(reason.text.printable, next: access.command("show"))
        }
        if !yes, !isSettled { try await ask(detail, access, output) }
        let reply = try await access.post("settle", as: SettlementReply.self, isKeyed: true)
        guard !output.isJSON else { return output.document(reply.bytes) }
        reply.document.lines(in: detail.currency, on: output.data).forEach { output.line($0) }
    }

    /// Shows the prizes and the objections, and asks.
    private func ask(
        _ detail: ContestDetail,
        _ access: ContestAccess,
        _ output: Output
    ) async throws {
        let question = Question(output: output)
        guard question.canBeAsked else {
            throw CommandFailure.usage(
                "There is no terminal to ask on, so --yes is needed.",
                next: access.command("settle", "--yes")
            )
        }
        let pages = try await access.boards { $0.standings.last?.rank.value == nil }
        let preview = detail.pool.flatMap { pool in
            PrizePreview(
                pool: pool.minorUnits,
                tiers: detail.payoutTable,
                standings: pages.flatMap(\.standings)
            )
        }
        if let preview {
            preview.lines(in: detail.currency, on: output.talking).forEach { output.talk($0) }
        } else {
            output.talk(
                "The prizes cannot be computed here; the server pays by the contest's rules."
            )
        }
        for objection in detail.objections ?? [] {
            output.talk(
                "Objection of entry \(objection.entryNumber.value), "
                    + "\(objection.username.quotedName): \(objection.text.printable)"
            )
        }
        try question.require(
            detail.question("settle") ?? "Pay all prizes of \(detail.title)?",
            unless: false,
            refusal: "Nothing was paid.",
            next: access.command("settle")
        )
    }
}

extension PrizePreview {
    /// The largest number of prizes that are shown.
    private static let shownLimit = 50

    func lines(in currency: Currency, on terminal: Terminal) -> [String] {
        let paid = payouts.filter { $0.cents > 0 }
        var table = Table(columns: [
            Table.Column(title: "RANK", isRightAligned: true),
            Table.Column(title: "ENTRY", isRightAligned: true),
            Table.Column(title: "NAME", minimum: 8),
            Table.Column(title: "PRIZE", isRightAligned: true),
        ])
        table.rows = paid.prefix(Self.shownLimit).map { payout in
            [
                Table.Cell("\(payout.standing.rank.value?.value ?? 0)"),
                Table.Cell(payout.standing.entryNumber.map { "\($0.value)" } ?? ""),
                Table.Cell(payout.standing.username.shortened),
                Table.Cell(Money(minorUnits: payout.cents, currency: currency).description),
            ]
        }
        let rest = paid.count - table.rows.count
        return table.lines(on: terminal) + (rest > 0 ? ["… \(rest) more"] : [])
    }
}
