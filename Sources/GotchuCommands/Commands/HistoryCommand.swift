import ArgumentParser
import GotchuAPI
import GotchuCore
import LocalAPI

/// `gotchu-ctl history`: lists this daemon's requests, payments and refunds.
struct HistoryCommand: SocketCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Show this daemon's requests, payments and refunds, newest first.",
        discussion: """
            EXAMPLES:
              gotchu-ctl history
              gotchu-ctl history --json

            A cashier sees requests, a spender payments and refunds.
            """
    )

    /// Both lists as one object.
    struct History: Encodable {
        var requests: [RequestView]?
        var payments: [PaymentView]?
    }

    private static let idTitle = "ID"

    @OptionGroup var options: CommonOptions

    func run(_ client: LocalClient, _ output: Output) async throws {
        let (requests, payments) = try await client.visibleRecords()
        guard !output.isJSON else {
            return try output.json(History(requests: requests, payments: payments))
        }
        let rows =
            (requests ?? []).map { ($0.createdAt, row(of: $0)) }
            + (payments ?? []).map { ($0.createdAt, row(of: $0)) }
        guard !rows.isEmpty else {
            return output.message("There are no requests and no payments yet.")
        }
        var table = Table(columns: [
            Table.Column(title: "WHEN"),
            Table.Column(title: "KIND", dropPriority: 3),
            Table.Column(title: "AMOUNT", isRightAligned: true),
            Table.Column(title: "STATE"),
            Table.Column(title: "WHAT", minimumWidth: 8, dropPriority: 1),
            Table.Column(title: Self.idTitle, dropPriority: 2),
        ])
        table.rows = rows.sorted { $0.0 > $1.0 }.map(\.1)
        table.lines(on: output.data).forEach { output.line($0) }
        if !table.shows(Self.idTitle, on: output.data) {
            output.message("There is no room for the ids here: gotchu-ctl history | cat")
        }
    }

    private func row(of request: RequestView) -> [Table.Cell] {
        let style: TextStyle? =
            switch request.state {
            case .paid: .green
            case .unknown: .yellow
            case .advertising, .locked, .expired, .cancelled: nil
            }
        return [
            Table.Cell(request.createdAt.dateText, .dim), Table.Cell("request"),
            Table.Cell("+\(request.amount)"), Table.Cell(request.state.rawValue, style),
            Table.Cell(
                [request.progress, request.memo?.shortened].compactMap(\.self)
                    .joined(separator: " · ")
            ),
            Table.Cell(request.id.description, .dim),
        ]
    }

    private func row(of payment: PaymentView) -> [Table.Cell] {
        let style: TextStyle? =
            switch payment.state {
            case .paid: .green
            case .declined: .red
            case .locking, .sending, .unknown: .yellow
            }
        let whom = payment.kind == .refund ? "of \(payment.sid)" : "to \(payment.payee.quotedName)"
        let what =
            switch payment.state {
            case .declined, .unknown: payment.detail
            case .locking, .sending, .paid: whom
            }
        return [
            Table.Cell(payment.createdAt.dateText, .dim),
            Table.Cell(payment.kind?.rawValue ?? "payment"),
            Table.Cell("-\(payment.amount)"), Table.Cell(payment.state.rawValue, style),
            Table.Cell(what.printable), Table.Cell(payment.id.printable, .dim),
        ]
    }
}
