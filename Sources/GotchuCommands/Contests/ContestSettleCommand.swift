import ArgumentParser
import GotchuAPI
import GotchuCore
import LocalAPI

/// `gotchu-ctl contest settle`: shows the prizes and pays them.
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

    @OptionGroup var target: ContestOptions

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

    /// Shows the prizes and objections, and asks for confirmation.
    private func ask(
        _ detail: ContestDetail,
        _ access: ContestAccess,
        _ output: Output
    ) async throws {
        let question = Question(output: output)
        try question.requireTerminal(next: access.command("settle", "--yes"))
        let plan = try await access.get("/settlement", as: SettlementReply.self).document
        let best = try await access.board(limit: ContestAccess.boardPage, cursor: nil).document
        let names = best.standings.compactMap { standing in
            standing.entryNumber.map { ($0.value, standing.username) }
        }
        plan.lines(
            in: detail.currency,
            on: output.messages,
            names: Dictionary(names) { first, _ in first }
        )
        .forEach { output.message($0) }
        for objection in detail.objections ?? [] {
            output.message(
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
