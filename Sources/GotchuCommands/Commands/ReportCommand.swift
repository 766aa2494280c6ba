import ArgumentParser
import GotchuAPI
import GotchuCore
import LocalAPI

/// `gotchu-ctl report`: shows what was paid and refunded on a day, by hour.
struct ReportCommand: SocketCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Show what was paid and refunded on a day, by hour.",
        discussion: """
            EXAMPLES:
              gotchu-ctl report
              gotchu-ctl report --day 2026-11-21 --zone Europe/Berlin
              gotchu-ctl report --csv > today.csv

            The sums are those of the payment server's books, over all tills of this wallet; \
            without the server there are none. What is still unknown on this machine stands \
            beside them.
            """
    )

    @OptionGroup var options: CommonOptions

    @Option(help: .value("date", "The date; today unless given."))
    var day: CalendarDay?

    @Option(help: .value("zone", "The time zone whose day it is; gotchud's own unless given."))
    var zone: TimeZoneName?

    @Flag(help: "Print a table for other programs (RFC 4180).")
    var csv = false

    func validate() throws {
        guard !(csv && options.json) else {
            throw ValidationError("--csv and --json exclude each other.")
        }
    }

    func run(_ client: LocalClient, _ output: Output) async throws {
        let report = try await client.report(day: day, zone: zone)
        if csv { return output.raw(report.csv) }
        if output.isJSON { return try output.json(report) }
        show(report, output)
    }

    private func show(_ report: ReportReply, _ output: Output) {
        func money(_ cents: Int64) -> String {
            Money(minorUnits: cents, currency: report.currency).description
        }
        func row(_ title: String, _ counts: EarningsCounts, _ style: TextStyle? = nil) -> [Table
            .Cell]
        {
            [
                Table.Cell(title, style), Table.Cell("\(counts.paymentCount)", style),
                Table.Cell(money(counts.takenCents), style),
                Table.Cell("\(counts.refundCount)", style),
                Table.Cell(money(counts.refundedCents), style),
                Table.Cell(money(counts.keptCents), style),
            ]
        }
        var table = Table(columns: [
            Table.Column(title: "HOUR"),
            Table.Column(title: "PAYMENTS", isRightAligned: true, dropPriority: 2),
            Table.Column(title: "TAKEN", isRightAligned: true),
            Table.Column(title: "REFUNDS", isRightAligned: true, dropPriority: 3),
            Table.Column(title: "REFUNDED", isRightAligned: true, dropPriority: 1),
            Table.Column(title: "KEPT", isRightAligned: true),
        ])
        table.rows = report.hours.filter { $0.counts != EarningsCounts() }.map { hour in
            row(String(hour.localTime.dropFirst(11).prefix(5)).printable, hour.counts)
        }
        table.rows.append(row("Day", report.counts, .bold))
        output.line("End of day · \(report.day.printable) · \(report.zone.printable)")
        table.lines(on: output.data).forEach { output.line($0) }
        for item in report.unknown {
            let amount = Money(minorUnits: item.amountCents, currency: item.currency)
            let memo = item.memo.map { " for \($0.quotedName)" } ?? ""
            output.line(
                output.data.paint("Not known yet: ", .yellow)
                    + "\(item.kind.rawValue) of \(amount)\(memo), \(item.createdAt.clockText)"
            )
        }
        if !report.unknown.isEmpty {
            output.line("gotchud asks for their outcomes. The sums may not contain them yet.")
        }
    }
}
