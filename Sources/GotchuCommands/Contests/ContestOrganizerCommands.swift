import ArgumentParser
import GotchuAPI
import GotchuCore
import LocalAPI
import ServiceProcess

/// `gotchu-ctl contest publish`: opens a draft to entrants.
struct ContestPublishCommand: ContestVerb {
    static let configuration = CommandConfiguration(
        commandName: "publish",
        abstract: "Open a draft to entrants, and put the added prize into its pot.",
        discussion: """
            EXAMPLES:
              gotchu-ctl contest publish ID
              gotchu-ctl contest publish ID --yes

            Asks if a prize of yours is to be moved from your wallet.
            """
    )

    @OptionGroup var target: ContestOptions

    @Flag(help: "Do not ask.")
    var yes = false

    func run(_ access: ContestAccess, _ output: Output) async throws {
        let detail = try await access.detail().document
        // A draft has no entrants: its pool is the added prize.
        if let prize = detail.pool, prize.minorUnits > 0 {
            let amount = output.messages.paint("\(prize)", .bold)
            try Question(output: output).require(
                "Publish \(detail.title), with \(amount) of your wallet as its prize?",
                unless: yes,
                refusal: "Nothing was published.",
                next: access.command("publish")
            )
        }
        guard try await access.act("publish", output, isKeyed: true) != nil else { return }
        output.line("\(detail.title) is open until \(detail.lockTime.value.dateText).")
        output.message("Invite people: \(access.command("invite"))")
    }
}

extension ContestDetail {
    /// The prize pool: the first `prize_pool_cents` in the sections.
    var pool: Money? {
        sections.lazy.compactMap { $0.data.integer("prize_pool_cents") }.first
            .map { Money(minorUnits: $0, currency: currency) }
    }
}

extension ContestDetail {
    /// Throws a failure if the contest can still be entered.
    func requireLock(_ access: ContestAccess) throws {
        guard state == .scheduled else { return }
        throw CommandFailure.negative(
            "\(title) can still be entered: lock it first.",
            next: access.command("lock")
        )
    }
}

/// `gotchu-ctl contest invite`: prints the address of a contest's page.
struct ContestInviteCommand: ContestVerb {
    static let configuration = CommandConfiguration(
        commandName: "invite",
        abstract: "Print the address of a contest's page, as a QR code too.",
        discussion: """
            EXAMPLES:
              gotchu-ctl contest invite ID
              gotchu-ctl contest invite ID --renew

            The address of a private contest holds its invitation: everybody who has it can enter \
            until the contest locks. Its organiser can renew it, and the old one ends.
            """
    )

    /// The output of `--json`.
    private struct Invitation: Encodable {
        let contest: WireUUID
        let url: String
        let token: String?

        private enum CodingKeys: String, CodingKey {
            case contest = "contest_id"
            case url
            case token = "join_token"
        }
    }

    @OptionGroup var target: ContestOptions

    @Flag(help: "Replace the invitation by a new one.")
    var renew = false

    func run(_ access: ContestAccess, _ output: Output) async throws {
        let token =
            if renew {
                try await access.post("invite/renew", as: InvitationReply.self).document.joinToken
            } else { try await access.detail().document.joinToken.value }
        let server = try await access.client.status().server.url
        let query = token.map { "?join_token=\(percentEncoded($0))" } ?? ""
        let url = "\(server)/contests/\(access.id)\(query)"
        guard !output.isJSON else {
            return try output.json(Invitation(contest: access.id, url: url, token: token))
        }
        if let code = QRCode(url), let picture = code.drawing(on: output.messages) {
            output.message(picture)
        }
        output.line(url.printable)
        output.message(
            "At a shell: " + access.command("join", token.map { "--invitation \($0)" } ?? "")
        )
    }
}

/// `gotchu-ctl contest lock`: closes entries now.
struct ContestLockCommand: ContestVerb {
    static let configuration = CommandConfiguration(
        commandName: "lock",
        abstract: "Close the entries now: nobody enters or leaves any more.",
        discussion: """
            EXAMPLES:
              gotchu-ctl contest lock ID
            """
    )

    @OptionGroup var target: ContestOptions

    func run(_ access: ContestAccess, _ output: Output) async throws {
        guard let detail = try await access.act("lock", output) else { return }
        let count = detail.entryCount.value
        let entries = count == 1 ? "1 entry" : "\(count) entries"
        output.line("\(detail.title) is locked, with \(entries).")
    }
}

/// `gotchu-ctl contest complete`: declares the scores final.
struct ContestCompleteCommand: ContestVerb {
    static let configuration = CommandConfiguration(
        commandName: "complete",
        abstract: "Declare the scores final; the time for objections begins.",
        discussion: """
            EXAMPLES:
              gotchu-ctl contest complete ID
              gotchu-ctl contest complete ID --revision 4

            After that time it settles by itself, unless you dispute it; nobody can shorten it. A \
            contest that was created with --review 0 pays its prizes at once.
            """
    )

    @OptionGroup var target: ContestOptions

    @Option(
        help: .value(
            "revision",
            "Refuse if there are other scores than this revision's; the newest unless said."
        )
    )
    var revision: Int64?

    func run(_ access: ContestAccess, _ output: Output) async throws {
        let detail = try await access.detail().document
        try detail.requireLock(access)
        let final = revision ?? detail.revision?.value ?? 0
        let body = ["revision": JSONValue.integer(final)]
        guard try await access.act("complete", output, body) != nil else { return }
        output.line("\(detail.title) is complete, with the scores of revision \(final).")
        output.message("See the prizes: \(access.command("settlement"))")
    }
}

/// `gotchu-ctl contest dispute`: stops the settlement.
struct ContestDisputeCommand: ContestVerb {
    static let configuration = CommandConfiguration(
        commandName: "dispute",
        abstract: "Stop the settlement until you score or complete the contest again.",
        discussion: """
            EXAMPLES:
              gotchu-ctl contest dispute ID "Round 3 is counted again"
            """
    )

    @OptionGroup var target: ContestOptions

    @Argument(help: "The reason, in 140 characters at most.")
    var reason: String

    func run(_ access: ContestAccess, _ output: Output) async throws {
        let body = ["reason": JSONValue.string(reason)]
        guard let detail = try await access.act("dispute", output, body) else { return }
        output.line("\(detail.title) does not settle until it is completed again.")
        output.message("Correct the scores: \(access.command("score", "1=42"))")
    }
}

/// `gotchu-ctl contest cancel`: cancels a contest and refunds all entrants.
struct ContestCancelCommand: ContestVerb {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "Cancel a contest: everybody gets their money back at once.",
        discussion: """
            EXAMPLES:
              gotchu-ctl contest cancel ID "It rains"
              gotchu-ctl contest cancel ID "It rains" --yes
            """
    )

    @OptionGroup var target: ContestOptions

    @Argument(help: "The reason, in 140 characters at most.")
    var reason: String

    @Flag(help: "Do not ask.")
    var yes = false

    func run(_ access: ContestAccess, _ output: Output) async throws {
        let detail = try await access.detail().document
        try Question(output: output).require(
            detail.question("cancel") ?? "Cancel \(detail.title)?",
            unless: yes,
            refusal: "Nothing was cancelled.",
            next: access.command("cancel", reason.shellQuoted)
        )
        let body = ["reason": JSONValue.string(reason)]
        guard try await access.act("cancel", output, body, isKeyed: true) != nil else { return }
        output.line("\(detail.title) is cancelled, and all money has gone back.")
    }
}

/// `gotchu-ctl contest delete`: hides a draft or a finished contest.
struct ContestDeleteCommand: ContestVerb {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Hide a draft, or a contest that is over; those who took part still see it.",
        discussion: """
            EXAMPLES:
              gotchu-ctl contest delete ID
            """
    )

    @OptionGroup var target: ContestOptions

    func run(_ access: ContestAccess, _ output: Output) async throws {
        try await access.client.contest(ContestCall(.delete, "/\(access.id)", document: nil))
        guard !output.isJSON else { return try output.json(["contest_id": access.id]) }
        output.line("The contest is in no list any more.")
    }
}
