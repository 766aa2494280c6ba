import ArgumentParser
import GotchuAPI
import GotchuCore
import LocalAPI

/// `gotchu-ctl contest`: shows contests, enters them, and runs one's own.
struct ContestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "contest",
        abstract: "Look at contests, enter them, and run your own.",
        discussion: """
            EXAMPLES:
              gotchu-ctl contest list
              gotchu-ctl contest join ID && gotchu-ctl contest wait ID
              gotchu-ctl contest create "Friday night" --template ID --fee 5.00 --locks +2h
              gotchu-ctl contest score ID 1=42 2=38 3=40

            The fees of those who enter lie in the contest's pot until it is settled or cancelled. \
            Fees and prizes go through the wallet.
            """,
        groupedSubcommands: [
            CommandGroup(
                name: "LOOK AND ENTER",
                subcommands: [
                    ContestListCommand.self, ContestShowCommand.self, ContestBoardCommand.self,
                    ContestJoinCommand.self, ContestRosterCommand.self, ContestWaitCommand.self,
                    ContestLeaveCommand.self, ContestObjectCommand.self,
                    ContestSettlementCommand.self,
                ]
            ),
            CommandGroup(
                name: "RUN YOUR OWN",
                subcommands: [
                    ContestCreateCommand.self, ContestPublishCommand.self,
                    ContestInviteCommand.self, ContestDeskCommand.self, ContestLockCommand.self,
                    ContestScoreCommand.self,
                    ContestCompleteCommand.self, ContestDisputeCommand.self,
                    ContestSettleCommand.self, ContestCancelCommand.self,
                    ContestDeleteCommand.self,
                ]
            ),
        ]
    )
}

extension ContestState: ExpressibleByArgument {
    /// Accepts upper and lower case.
    public init?(argument: String) {
        self.init(rawValue: argument.uppercased())
    }

    /// The states in lower case, as a person types them.
    public static var allValueStrings: [String] { allCases.map { $0.rawValue.lowercased() } }
}

/// `gotchu-ctl contest list`: lists the contests that the user may see.
struct ContestListCommand: SocketCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Show contests, newest first.",
        discussion: """
            EXAMPLES:
              gotchu-ctl contest list
              gotchu-ctl contest list --mine
              gotchu-ctl contest list --state live --json
            """
    )

    private static let defaultLimit = 25

    @OptionGroup var options: CommonOptions

    @Flag(help: "Only those that you organise or have entered.")
    var mine = false

    @Option(help: .value("state", "Only those in this state."))
    var state: ContestState?

    @Option(help: .value("count", "The number of contests: 1 to 100."))
    var limit = defaultLimit

    @Option(help: .value("id", "Begin behind this contest of an earlier list."))
    var cursor: String?

    func run(_ client: LocalClient, _ output: Output) async throws {
        guard (1...100).contains(limit) else {
            throw CommandFailure.usage(
                "--limit is 1 to 100.",
                next: "gotchu-ctl contest list --limit 100"
            )
        }
        let query = [
            "?limit=\(limit)", mine ? "mine=1" : nil, state.map { "state=\($0.rawValue)" },
            cursor.map { "cursor=\(percentEncoded($0))" },
        ].compactMap(\.self).joined(separator: "&")
        var call = ContestCall(.get, query, document: ContestList.self)
        call.language = Environment.language
        guard let reply = try await client.contest(call, as: ContestList.self) else { return }
        guard !output.isJSON else { return output.document(reply.bytes) }
        let list = reply.document
        if list.contests.isEmpty {
            let isAll = list.nextCursor == nil
            output.message(isAll ? "There are no such contests." : "None of the newest is one.")
        } else {
            list.table.lines(on: output.data).forEach { output.line($0) }
        }
        if let next = list.nextCursor { output.message("More: \(again) --cursor \(next)") }
    }

    /// The same command and options without `--cursor`.
    private var again: String {
        [
            "gotchu-ctl contest list", mine ? "--mine" : nil,
            state.map { "--state \($0.rawValue.lowercased())" },
            limit == Self.defaultLimit ? nil : "--limit \(limit)",
        ].compactMap(\.self).joined(separator: " ")
    }
}

extension ContestList {
    var table: Table {
        var table = Table(columns: [
            Table.Column(title: "CONTEST", minimumWidth: 12),
            Table.Column(title: "STATE"),
            Table.Column(title: "ENTRIES", dropPriority: 3),
            Table.Column(title: "FEE", isRightAligned: true, dropPriority: 1),
            Table.Column(title: "LOCKS", dropPriority: 4),
            Table.Column(title: "ORGANISER AND START", minimumWidth: 8, dropPriority: 5),
            Table.Column(title: "KIND", dropPriority: 2),
            Table.Column(title: "ID"),
        ])
        table.rows = contests.map { card in
            let fee = card.entry.entryFeeCents.value
            let money = Money(minorUnits: fee, currency: card.entry.currency)
            return [
                Table.Cell(card.display.title.shortened),
                Table.Cell(card.stateText.shortened),
                Table.Cell("\(card.entry.currentEntries.value) of \(card.entry.maxEntries.value)"),
                Table.Cell(fee == 0 ? "free" : "\(money)"),
                Table.Cell(card.timing.locksAt.value.dateText, .dim),
                Table.Cell(card.display.subtitle.shortened, .dim),
                Table.Cell(card.display.badge.shortened),
                Table.Cell(card.id.description),
            ]
        }
        return table
    }
}

extension ContestCard {
    /// The state in a word. While a contest is open, the server's label counts its entries, which
    /// have a column of their own here.
    fileprivate var stateText: String {
        let label = display.statusLabel
        return state == .scheduled && label.contains(where: \.isNumber) ? "open" : label
    }
}

extension Output {
    /// Writes a document as received, without its last line ends.
    func document(_ bytes: [UInt8]) {
        var text = String(decoding: bytes, as: UTF8.self)
        while text.last?.isNewline == true { text.removeLast() }
        line(text)
    }
}

/// `gotchu-ctl contest show`: shows a contest with all its sections.
struct ContestShowCommand: ContestVerb {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show all of a contest, and what you can do with it.",
        discussion: """
            EXAMPLES:
              gotchu-ctl contest show ID
              gotchu-ctl contest show ID --invitation TOKEN
            """
    )

    @OptionGroup var target: ContestOptions

    @Option(help: .value("token", "The invitation to a private contest."))
    var invitation: String?

    func run(_ access: ContestAccess, _ output: Output) async throws {
        let reply = try await access.detail(invitation: invitation)
        guard !output.isJSON else { return output.document(reply.bytes) }
        reply.document.lines(on: output.data).forEach { output.line($0) }
    }
}

/// `gotchu-ctl contest board`: shows the leaderboard.
struct ContestBoardCommand: ContestVerb {
    static let configuration = CommandConfiguration(
        commandName: "board",
        abstract: "Show a contest's leaderboard.",
        discussion: """
            EXAMPLES:
              gotchu-ctl contest board ID
              gotchu-ctl contest board ID --all

            The organiser also sees the numbers by which entries are scored. With --json one page \
            is printed; its next_cursor is the next one's --cursor.
            """
    )

    @OptionGroup var target: ContestOptions

    @Option(help: .value("count", "The entries of a page: 1 to 200."))
    var limit = 50

    @Option(help: .value("cursor", "Begin behind the page that named this."))
    var cursor: String?

    @Flag(help: "Show all pages.")
    var all = false

    func validate() throws {
        guard !(all && options.json) else {
            throw ValidationError("--json prints one page: leave --all out, and follow --cursor.")
        }
    }

    func run(_ access: ContestAccess, _ output: Output) async throws {
        guard (1...ContestAccess.boardPage).contains(limit) else {
            throw CommandFailure.usage(
                "--limit is 1 to \(ContestAccess.boardPage).",
                next: access.command("board", "--all")
            )
        }
        let reply = try await access.board(
            limit: all ? ContestAccess.boardPage : limit,
            cursor: cursor
        )
        guard !output.isJSON else { return output.document(reply.bytes) }
        // Amounts of the leaderboard are in the contest's currency, which its reply does not state.
        let currency = try await access.detail().document.currency
        var page = reply.document
        output.line(page.summary)
        while true {
            page.table(in: currency).lines(on: output.data).forEach { output.line($0) }
            guard let next = page.nextCursor else { return }
            guard all else {
                return output.message("More: " + access.command("board", "--cursor \(next)"))
            }
            page = try await access.board(limit: ContestAccess.boardPage, cursor: next).document
        }
    }
}

/// `gotchu-ctl contest settlement`: shows the payouts and the hashes that prove them.
struct ContestSettlementCommand: ContestVerb {
    static let configuration = CommandConfiguration(
        commandName: "settlement",
        abstract: "Show what a settled contest has paid, and its hashes.",
        discussion: """
            EXAMPLES:
              gotchu-ctl contest settlement ID
              gotchu-ctl contest settlement ID --json
            """
    )

    @OptionGroup var target: ContestOptions

    func run(_ access: ContestAccess, _ output: Output) async throws {
        let reply = try await access.get("/settlement", as: SettlementReply.self)
        guard !output.isJSON else { return output.document(reply.bytes) }
        let currency = try await access.detail().document.currency
        reply.document.lines(in: currency, on: output.data).forEach { output.line($0) }
    }
}

extension SettlementReply {
    /// The payouts as text. Entries without a prize are counted, not listed.
    ///
    /// - Parameter names: The entrants' known names by entry number.
    func lines(
        in currency: Currency,
        on terminal: Terminal,
        names: [Int64: String] = [:]
    ) -> [String] {
        func money(_ cents: WireCount) -> String {
            Money(minorUnits: cents.value, currency: currency).description
        }
        let paid = payouts.filter { $0.payoutCents.value > 0 }
        var lines = [
            terminal.paint(
                settledAt.value.map { "Settled \($0.value.dateText)" } ?? "To be paid",
                .bold
            )
                + " · pool \(money(poolCents)) · organiser \(money(rakeCents))"
                + " · revision \(revision.value)"
        ]
        var table = Table(columns: [
            Table.Column(title: "RANK", isRightAligned: true),
            Table.Column(title: "ENTRY", isRightAligned: true),
            Table.Column(title: "PRIZE", isRightAligned: true),
            Table.Column(title: names.isEmpty ? "" : "NAME"),
        ])
        table.rows = paid.map { payout in
            let number = payout.entryNumber.value
            return [
                Table.Cell("\(payout.rank.value)"), Table.Cell("\(number)"),
                Table.Cell(money(payout.payoutCents)), Table.Cell(names[number]?.shortened ?? ""),
            ]
        }
        if !paid.isEmpty { lines += table.lines(on: terminal) }
        let others = payouts.count - paid.count
        if others > 0 { lines.append("\(others) ranked without a prize") }
        return lines + [
            "Inputs \(inputsSHA256.printable)", "Result \(resultSHA256.printable)",
        ]
    }
}
