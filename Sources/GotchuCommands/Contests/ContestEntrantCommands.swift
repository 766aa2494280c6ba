import ArgumentParser
import GotchuAPI
import GotchuCore
import LocalAPI

/// `gotchu-ctl contest join`: enters a contest and pays its fee.
struct ContestJoinCommand: ContestVerb {
    static let configuration = CommandConfiguration(
        commandName: "join",
        abstract: "Enter a contest, for its fee.",
        discussion: """
            EXAMPLES:
              gotchu-ctl contest join ID
              gotchu-ctl contest join ID --yes --wait-for-place
              gotchu-ctl contest join ID --invitation TOKEN

            Shows the fee, and asks. gotchud writes the entry down before it is sent, and enters \
            once whatever happens. With --wait-for-place a full contest is tried again after 2, \
            4 and 8 seconds. Exits with 0 once you are in, 1 if you certainly are not, and 75 if \
            that is not known yet.
            """
    )

    /// The delay before each retry if the contest is full.
    private static let placeWaits: [Duration] = [.seconds(2), .seconds(4), .seconds(8)]

    @OptionGroup var target: ContestOptions

    @Option(help: .value("token", "The invitation to a private contest."))
    var invitation: String?

    @Flag(name: .customLong("wait-for-place"), help: "Try a full contest three times more.")
    var waitsForPlace = false

    @Flag(help: "Do not ask.")
    var yes = false

    func run(_ access: ContestAccess, _ output: Output) async throws {
        let detail = try await access.detail(invitation: invitation).document
        let reason = detail.action("join")?.reason
        let isWaitedFor = waitsForPlace && reason?.code == ErrorCode.contestFull.rawValue
        if let reason, !isWaitedFor {
            throw CommandFailure.negative(reason.text.printable, next: access.command("show"))
        }
        let by = detail.organizerName.isEmpty ? "" : " of \(detail.organizerName.quotedName)"
        let fee = output.messages.paint(detail.feeText, .bold)
        let cost = detail.entryFeeCents.value == 0 ? "It is free." : "The fee is \(fee)."
        try Question(output: output).require(
            "Enter \(detail.title)\(by)? \(cost)",
            unless: yes,
            refusal: "You did not enter. Nothing was charged.",
            next: access.command("join")
        )
        var waits = Self.placeWaits[...]
        while true {
            do {
                return try report(try await join(detail, access), output, access)
            } catch LocalClientFailure.problem(let problem)
                where problem.errorCode == .contestFull && waitsForPlace
            {
                // The server repeats a refusal for its key, so each attempt uses a new key.
                guard let wait = waits.popFirst() else {
                    throw LocalClientFailure.problem(problem)
                }
                output.message("All places are taken; trying again in \(wait.wholeSecondsText) …")
                // No event reports a free place: retry until the delays are used up.
                try await Task.sleep(for: wait)
            }
        }
    }

    private func join(
        _ detail: ContestDetail,
        _ access: ContestAccess
    ) async throws -> ContestReply<ContestDetail> {
        var body = ["entry_fee_cents": JSONValue.integer(detail.entryFeeCents.value)]
        if let invitation { body["join_token"] = .string(invitation) }
        return try await access.post("join", body, as: ContestDetail.self, isKeyed: true)
    }

    private func report(
        _ reply: ContestReply<ContestDetail>,
        _ output: Output,
        _ access: ContestAccess
    ) throws {
        guard !output.isJSON else { return output.document(reply.bytes) }
        let detail = reply.document
        let number = detail.entry.map { " as entry \($0.entryNumber.value)" } ?? ""
        let charge = detail.entryFeeCents.value == 0 ? "" : " · \(detail.feeText) charged"
        output.line(
            output.data.paint("You are in \(detail.title)\(number)", .green) + charge
        )
        if detail.action("roster")?.enabled == true {
            output.message("Choose your roster: \(access.command("roster"))")
        }
        output.message("See how it ends:    \(access.command("wait"))")
    }
}

/// `gotchu-ctl contest leave`: leaves a contest; the fee is refunded.
struct ContestLeaveCommand: ContestVerb {
    static let configuration = CommandConfiguration(
        commandName: "leave",
        abstract: "Leave a contest before it locks; the fee comes back.",
        discussion: """
            EXAMPLES:
              gotchu-ctl contest leave ID
              gotchu-ctl contest leave ID --yes
            """
    )

    @OptionGroup var target: ContestOptions

    @Flag(help: "Do not ask.")
    var yes = false

    func run(_ access: ContestAccess, _ output: Output) async throws {
        let detail = try await access.detail().document
        try Question(output: output).require(
            detail.question("leave") ?? "Leave \(detail.title)?",
            unless: yes,
            refusal: "You did not leave.",
            next: access.command("leave")
        )
        guard try await access.act("leave", output, isKeyed: true) != nil else { return }
        let isFree = detail.entryFeeCents.value == 0
        output.line(
            "You have left \(detail.title)"
                + (isFree ? "" : " · \(detail.feeText) is back in your wallet")
        )
    }
}

/// `gotchu-ctl contest object`: objects to a result.
struct ContestObjectCommand: ContestVerb {
    static let configuration = CommandConfiguration(
        commandName: "object",
        abstract: "Object to a contest's result, once, while it is under review.",
        discussion: """
            EXAMPLES:
              gotchu-ctl contest object ID "Round 3 was counted twice"

            The organiser sees it, and alone can stop the settlement.
            """
    )

    @OptionGroup var target: ContestOptions

    @Argument(help: "What is wrong, in 280 characters at most.")
    var text: String

    func run(_ access: ContestAccess, _ output: Output) async throws {
        guard try await access.detail().document.objected != true else {
            throw CommandFailure.negative(
                "You have objected to this result already, and the organiser sees it. There is one "
                    + "objection to each result.",
                next: access.command("show")
            )
        }
        let body = ["text": JSONValue.string(text)]
        guard let detail = try await access.act("objections", output, body) else { return }
        output.line("The organiser of \(detail.title) sees your objection.")
    }
}

/// `gotchu-ctl contest roster`: shows and chooses the players of one's entry.
struct ContestRosterCommand: ContestVerb {
    static let configuration = CommandConfiguration(
        commandName: "roster",
        abstract: "Choose the players of your entry, or show what is missing.",
        discussion: """
            EXAMPLES:
              gotchu-ctl contest roster ID
              gotchu-ctl contest roster ID 1 4 8
              gotchu-ctl contest roster ID "Lane 1" "Lane 4" "Lane 8"

            Without players the form is shown, with your roster as it is. Players are named by \
            their number in that list, by name or by id; they replace those that you chose \
            before, until the contest locks.
            """
    )

    @OptionGroup var target: ContestOptions

    @Argument(help: .value("player", "The players."))
    var players: [String] = []

    func run(_ access: ContestAccess, _ output: Output) async throws {
        let reply = try await access.detail()
        let section = reply.document.sections.first { $0.type == "roster_config" }
        guard let form = section.flatMap({ RosterForm($0.data, \.printable) }) else {
            throw CommandFailure.negative(
                "\(reply.document.title) takes no rosters.",
                next: access.command("show")
            )
        }
        guard !players.isEmpty else {
            if output.isJSON { return output.document(reply.bytes) }
            return show(form, reply.document, output, access)
        }
        let roster = try players.map { text in
            guard let player = form.player(text) else {
                throw CommandFailure.badData(
                    "'\(text.shortened)' is none of its players, or more than one.",
                    next: access.command("roster")
                )
            }
            return player
        }
        let errors = form.validationErrors(of: roster)
        guard errors.isEmpty else {
            throw CommandFailure.negative(
                "Nothing was sent: \(errors.joined(separator: "; ")). \(form.rule)",
                next: access.command("roster")
            )
        }
        let ids = roster.map { JSONValue.object(["player_id": .string($0.id)]) }
        let entered = try await access.post(
            "entries",
            ["roster": .array(ids)],
            as: EnteredRoster.self
        )
        guard !output.isJSON else { return output.document(entered.bytes) }
        let names = roster.map(\.name).joined(separator: ", ")
        output.line("Your roster for entry \(entered.document.entryNumber.value): \(names)")
    }

    private func show(
        _ form: RosterForm,
        _ detail: ContestDetail,
        _ output: Output,
        _ access: ContestAccess
    ) {
        let chosen = Set(detail.entry?.roster.map(\.playerID.description) ?? [])
        var table = Table(columns: [
            Table.Column(title: "NO.", isRightAligned: true),
            Table.Column(title: "PLAYER", minimumWidth: 8),
            Table.Column(title: "POSITION", minimumWidth: 4, dropPriority: 1),
            Table.Column(title: "COST", isRightAligned: true),
            Table.Column(title: ""),
        ])
        table.rows = form.players.enumerated().map { index, player in
            let isChosen = chosen.contains(player.id)
            return [
                Table.Cell("\(index + 1)"), Table.Cell(player.name, isChosen ? .bold : nil),
                Table.Cell(player.position), Table.Cell("\(player.salary)"),
                Table.Cell(isChosen ? "yours" : ""),
            ]
        }
        output.line(form.rule)
        table.lines(on: output.data).forEach { output.line($0) }
        guard detail.entry != nil else {
            return output.message("Enter first: \(access.command("join"))")
        }
        let roster = form.players.filter { chosen.contains($0.id) }
        let errors = form.validationErrors(of: roster)
        output.line(
            errors.isEmpty
                ? "Your roster is complete; it costs \(form.cost(of: roster))."
                : "Still missing: \(errors.joined(separator: "; "))."
        )
        guard detail.action("roster")?.enabled == true else { return }
        let numbers = (1...form.size).map { "\($0)" }.joined(separator: " ")
        output.message("Choose: \(access.command("roster", numbers))")
    }
}
