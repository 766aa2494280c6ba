import ArgumentParser
import GotchuAPI
import GotchuCore
import LocalAPI

/// `gotchu-ctl earnings`: shows the wallet's earnings and the payments behind them.
struct EarningsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "earnings",
        abstract: "Show what was earned, by day, and what of it was paid out.",
        discussion: """
            EXAMPLES:
              gotchu-ctl earnings
              gotchu-ctl earnings --period week
              gotchu-ctl earnings --from 2026-11-01 --to 2026-11-21 --zone Europe/Berlin
              gotchu-ctl earnings history --period today

            Earnings are payments less refunds, by the payment server's books, over all tills of \
            this wallet.
            """,
        subcommands: [Show.self, History.self],
        defaultSubcommand: Show.self
    )

    /// The requested period.
    struct Time: ParsableArguments {
        @Option(help: "The period.")
        var period: Period?

        @Option(help: .value("date", "The first date, instead of a period."))
        var from: CalendarDay?

        @Option(help: .value("date", "The last date."))
        var to: CalendarDay?

        @Option(
            help: .value("zone", "The time zone whose days these are; gotchud's own unless given.")
        )
        var zone: TimeZoneName?

        func validate() throws {
            guard (from == nil) == (to == nil) else {
                throw ValidationError("Give both --from and --to.")
            }
            guard from == nil || period == nil else {
                throw ValidationError("--period excludes --from and --to.")
            }
            guard let from, let to, from > to else { return }
            throw ValidationError("--from is after --to.")
        }

        func selection(default defaultPeriod: Period) -> EarningsSelection {
            guard let from, let to else {
                return EarningsSelection(.period((period ?? defaultPeriod).wire), zone: zone)
            }
            return EarningsSelection(.dates(from...to), zone: zone)
        }
    }

    /// A period as a person types it.
    enum Period: String, ExpressibleByArgument, CaseIterable {
        case today, week, month, all

        fileprivate var wire: EarningsPeriod {
            switch self {
            case .today: .today
            case .week: .week
            case .month: .month
            case .all: .all
            }
        }
    }

    /// `gotchu-ctl earnings show`: shows the sums.
    struct Show: SocketCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show the sums of a time, by day or hour; this month's unless told."
        )

        @OptionGroup var options: CommonOptions
        @OptionGroup var time: Time

        func run(_ client: LocalClient, _ output: Output) async throws {
            let earnings = try await client.earnings(time.selection(default: .month))
            guard !output.isJSON else { return try output.json(earnings) }
            func money(_ cents: WireInteger?) -> Money {
                Money(minorUnits: cents?.value ?? 0, currency: earnings.currency)
            }
            let days = [earnings.from, earnings.to].compactMap(\.?.printable)
            let dates = days.isEmpty ? "all time" : Set(days).sorted().joined(separator: " to ")
            output.line(
                output.data.paint("Earned \(money(earnings.totalCents))", .bold)
                    + " · \(dates) · \(earnings.zone.printable)"
            )
            table(of: earnings)?.lines(on: output.data).forEach { output.line($0) }
            output.line(
                "Today \(money(earnings.todayCents)) · this week \(money(earnings.weekCents)) · "
                    + "this month \(money(earnings.monthCents)) · "
                    + "all time \(money(earnings.allTimeCents))"
            )
            output.line(
                "Pending \(money(earnings.pendingCents)) · processing "
                    + "\(money(earnings.processingCents)) · paid \(money(earnings.paidCents))"
            )
        }

        /// The hours or days with earnings or refunds; `nil` if there are none.
        private func table(of earnings: EarningsReply) -> Table? {
            let isByHour = earnings.from == earnings.to
            var table = Table(columns: [
                Table.Column(title: isByHour ? "HOUR" : "DAY"),
                Table.Column(title: "PAYMENTS", isRightAligned: true, dropPriority: 1),
                Table.Column(title: "REFUNDS", isRightAligned: true, dropPriority: 2),
                Table.Column(title: "EARNED", isRightAligned: true),
            ])
            table.rows = (earnings.parts ?? []).filter { $0.counts != EarningsCounts() }.map {
                let kept = Money(minorUnits: $0.counts.keptCents, currency: earnings.currency)
                let clock = $0.localTime.dropFirst(11).prefix(5)
                return [
                    Table.Cell(String(isByHour ? clock : $0.localTime.prefix(10)).printable),
                    Table.Cell("\($0.counts.paymentCount)"), Table.Cell("\($0.counts.refundCount)"),
                    Table.Cell("\(kept)"),
                ]
            }
            return table.rows.isEmpty ? nil : table
        }
    }

    /// `gotchu-ctl earnings history`: lists the payments and refunds.
    struct History: SocketCommand {
        static let configuration = CommandConfiguration(
            commandName: "history",
            abstract: "Show the payments and refunds of a time, newest first; all unless told.",
            discussion: """
                PAYOUT says where the money is: pending is in the wallet, processing is on its way \
                to the bank, paid was paid out or spent. What was earned first goes first.
                """
        )

        private static let pageLimit = 100

        @OptionGroup var options: CommonOptions
        @OptionGroup var time: Time

        @Option(help: .value("count", "The most that are shown: 1 to 10000."))
        var limit = 25

        func validate() throws {
            guard (1...10_000).contains(limit) else {
                throw ValidationError("--limit is from 1 to 10000.")
            }
        }

        func run(_ client: LocalClient, _ output: Output) async throws {
            let history = try await read(client)
            guard !output.isJSON else { return try output.json(history) }
            guard !history.entries.isEmpty else {
                return output.message("Nothing was earned in that time.")
            }
            var table = Table(columns: [
                Table.Column(title: "WHEN"),
                Table.Column(title: "EARNED", isRightAligned: true),
                Table.Column(title: "PAYOUT"),
                Table.Column(title: "WHAT", minimumWidth: 8, dropPriority: 1),
                Table.Column(title: "PAYMENT", dropPriority: 2),
            ])
            table.rows = history.entries.map(row)
            table.lines(on: output.data).forEach { output.line($0) }
            if history.nextCursor != nil {
                output.message("There are more: gotchu-ctl earnings history --limit \(limit * 2)")
            }
        }

        /// Reads pages until there are enough entries or no more pages. A page may be shorter than
        /// requested.
        private func read(_ client: LocalClient) async throws -> EarningsHistoryReply {
            let selection = time.selection(default: .all)
            var found = EarningsHistoryReply(entries: [], nextCursor: nil)
            repeat {
                let page = try await client.earningsHistory(
                    selection,
                    limit: min(Self.pageLimit, limit - found.entries.count),
                    cursor: found.nextCursor
                )
                found.entries += page.entries
                found.nextCursor = page.nextCursor
            } while found.nextCursor != nil && found.entries.count < limit
            return found
        }

        private func row(of entry: EarningsEntry) -> [Table.Cell] {
            let amount = Money(minorUnits: entry.amountCents.value, currency: entry.currency)
            let what = [
                entry.type == .refund ? "refund" : nil, entry.memo?.shortened,
                entry.payeeReference?.shortened,
            ].compactMap(\.self)
            return [
                Table.Cell(entry.earnedAt.value.dateText, .dim),
                entry.type == .refund ? Table.Cell("-\(amount)") : Table.Cell("+\(amount)", .green),
                Table.Cell(entry.payoutStatus.rawValue), Table.Cell(what.joined(separator: " · ")),
                Table.Cell(entry.sessionID?.description ?? "", .dim),
            ]
        }
    }
}

extension CalendarDay: ExpressibleByArgument {
    /// Accepts `2026-11-21`.
    public init?(argument: String) {
        self.init(argument)
    }
}

extension TimeZoneName: ExpressibleByArgument {
    /// Accepts a name such as `Europe/Berlin`.
    public init?(argument: String) {
        self.init(argument)
    }
}
