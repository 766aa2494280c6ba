import ArgumentParser
import GotchuAPI
import GotchuCore
import LocalAPI

/// `gotchu-ctl contest create`: creates a draft.
struct ContestCreateCommand: SocketCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Make a draft of a contest, from a template or a file.",
        discussion: """
            EXAMPLES:
              gotchu-ctl contest create "Friday night" --template ID --fee 5.00 --locks +2h
              gotchu-ctl contest create "Lake run" --template ID --fee 0 --prize 50 \\
                --locks "2026-12-04 17:55" --starts "2026-12-04 18:00" \\
                --tiers 50,30,20
              gotchu-ctl contest create --file contest.json

            A draft's terms never change, and nobody but you sees it: publish it, or delete it and \
            make another one. 'gotchu-server contests template-list' lists the templates. A file \
            has the body of the server's call (/contests/openapi.yaml).
            """
    )

    private static let fileLimit = 64 * 1024

    @OptionGroup var options: CommonOptions

    @Argument(help: "The title that entrants see.")
    var title: String?

    @Option(
        help: .value("path", "Take the terms from this file; - is standard input."),
        completion: .file()
    )
    var file: String?

    @Option(help: .value("id", "The id of the contest's template."))
    var template: String?

    @Option(help: .value("text", "What the contest is about."))
    var description = ""

    @Option(help: .value("amount", "What it costs to enter; 0 is free."))
    var fee: String?

    @Option(
        help: .value(
            "time",
            "The last moment to enter: +2h, '2026-12-04 18:00', 2026-12-04T18:00:00Z."
        )
    )
    var locks: TypedMoment?

    @Option(help: .value("time", "When it begins; when it locks unless said."))
    var starts: TypedMoment?

    @Option(help: .value("time", "When it ends."))
    var ends: TypedMoment?

    @Option(
        help: .value(
            "shares",
            "The percent of the pool for each rank: 50,30,20; 10x5 is 10 for five ranks together."
        )
    )
    var tiers = TypedTiers()

    @Option(help: .value("count", "The number of places: 2 to 10000."))
    var places: Int64?

    @Option(help: .value("percent", "Your part of the fees in percent: 0 to 20."))
    var rake: String?

    @Option(help: .value("amount", "What you add to the prizes."))
    var prize: String?

    @Option(
        help: .value(
            "seconds",
            "Seconds for objections, before which nothing is paid; 3600 unless said, 0 for none."
        )
    )
    var review: Int64?

    @Flag(name: .customLong("invite-only"), help: "Let only those enter who have the invitation.")
    var isInviteOnly = false

    func validate() throws {
        guard file == nil || title == nil && template == nil else {
            throw ValidationError("Give either --file, or a title with --template.")
        }
        guard file != nil || title != nil && template != nil && fee != nil && locks != nil else {
            throw ValidationError("A title, --template, --fee and --locks are needed, or --file.")
        }
    }

    func run(_ client: LocalClient, _ output: Output) async throws {
        var call = ContestCall(.post, "", document: ContestDetail.self)
        call.language = Environment.language
        call.body = try file.map { try contents(of: $0) } ?? terms()
        let reply = try await client.retryingWhileUnavailable { key in
            var call = call
            call.key = key
            return try await client.contest(call, as: ContestDetail.self)
        }
        guard let reply else { return }
        guard !output.isJSON else { return output.document(reply.bytes) }
        output.line(reply.document.id.description)
        output.message("\(reply.document.title) is a draft, which only you see.")
        output.message("Look at it:     gotchu-ctl contest show \(reply.document.id)")
        output.message("Open it to all: gotchu-ctl contest publish \(reply.document.id)")
    }

    private func contents(of path: String) throws -> [UInt8] {
        let file = InputFile(path: path == "-" ? nil : path)
        let bytes = try file.read(limit: Self.fileLimit)
        guard bytes.count <= Self.fileLimit else {
            throw CommandFailure.badData(
                "\(file.name) has more than 64 KiB.",
                next: Self.help
            )
        }
        return bytes
    }

    /// The request body, built from the options.
    private func terms() throws -> [UInt8] {
        guard let title, let template, let fee, let locks else {
            throw CommandFailure.bug("options were not validated")
        }
        guard let id = WireUUID(template.lowercased()) else {
            throw CommandFailure.badData(
                "'\(template.shortened)' is not a template's id.",
                next: Self.help
            )
        }
        var members: [String: JSONValue] = [
            "template_id": .string(id.description), "title": .string(title),
            "description": .string(description), "currency": .string(Currency.usd.rawValue),
            "entry_fee_cents": .integer(try Self.amount(fee)),
            "locks_at": .string(locks.time.iso8601),
            "starts_at": .string((starts ?? locks).time.iso8601),
            "tiers": .array(tiers.tiers),
        ]
        if let ends { members["ends_at"] = .string(ends.time.iso8601) }
        if let places { members["max_entries"] = .integer(places) }
        if let prize { members["added_prize_cents"] = .integer(try Self.amount(prize)) }
        if let review { members["settle_after_seconds"] = .integer(review) }
        if isInviteOnly { members["is_invite_only"] = .boolean(true) }
        if let rake {
            // A percentage has at most two decimals, like an amount.
            guard let share = Money(rake)?.minorUnits, (0...2_000).contains(share) else {
                throw CommandFailure.usage(
                    "--rake is 0 to 20 percent, with two decimals at most.",
                    next: Self.help
                )
            }
            members["rake_bps"] = .integer(share)
        }
        return CanonicalJSON.bytes(of: JSONValue.object(members))
    }

    private static func amount(_ text: String) throws -> Int64 {
        let allowed = 0...Money.allowedRequest.upperBound
        return try Money(typed: text, allowed: allowed, next: help).minorUnits
    }

    private static let help = "gotchu-ctl contest create --help"
}
