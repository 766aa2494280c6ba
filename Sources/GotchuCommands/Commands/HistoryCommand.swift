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

            A cashier sees requests, a spender payments and refunds. An amount has a sign once \
            the money has moved. ID is a request's EID, which refund, cancel and wait accept, or \
            a payment's id; --json also has the requests' full ids.
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
        let eids = Dictionary((requests ?? []).map { ($0.id, $0.listedEID) }) { first, _ in first }
        let rows =
            (requests ?? []).map { ($0.createdAt, row(of: $0)) }
            + (payments ?? []).map { ($0.createdAt, row(of: $0, eid: eids[$0.sid])) }
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
            Table.Cell("\(request.state == .paid ? "+" : "")\(request.amount.total)"),
            Table.Cell(request.state.rawValue, style),
            Table.Cell(
                [request.amount.tipText, request.progress, request.memo?.shortened]
                    .compactMap(\.self).joined(separator: " · ")
            ),
            Table.Cell(request.listedEID.description, .dim),
        ]
    }

    /// - Parameter eid: For a refund: the EID of its request, if that is listed.
    private func row(of payment: PaymentView, eid: EID?) -> [Table.Cell] {
        let style: TextStyle? =
            switch payment.state {
            case .paid: .green
            case .declined: .red
            case .locking, .sending, .unknown: .yellow
            }
        let whom =
            payment.kind == .refund
            ? "of \(eid?.description ?? payment.sid.description)"
            : "to \(payment.payee.quotedName)"
        let what =
            switch payment.state {
            case .declined, .unknown: payment.detail
            case .locking, .sending, .paid:
                [whom, payment.amount.tipText].compactMap(\.self).joined(separator: " ")
            }
        return [
            Table.Cell(payment.createdAt.dateText, .dim),
            Table.Cell(payment.kind?.rawValue ?? "payment"),
            Table.Cell("\(payment.state == .paid ? "-" : "")\(payment.amount.total)"),
            Table.Cell(payment.state.rawValue, style), Table.Cell(what.printable),
            Table.Cell(payment.id.printable, .dim),
        ]
    }
}

extension RequestView {
    /// The EID under which the request is listed. It never changes.
    fileprivate var listedEID: EID { firstEID ?? eid }
}
