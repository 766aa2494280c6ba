internal import ArgumentParser
internal import GotchuCore
internal import Ledger
internal import LedgerStore
internal import Outbox
internal import ServiceProcess

/// `gotchu-server webhooks`: the endpoints that receive sessions' events.
struct Webhooks: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Manages the endpoints that receive sessions' events.",
        discussion: """
            Examples:
              gotchu-server webhooks add https://shop.example/in --database sqlite:shop.db
              gotchu-server webhooks list --database sqlite:shop.db
              gotchu-server webhooks resend --database sqlite:shop.db

            Messages are signed as Standard Webhooks asks and arrive at least once; one that does \
            not arrive is tried again for a day. All of this works while the server runs.
            """,
        subcommands: [
            AddWebhook.self, ListWebhooks.self, RemoveWebhook.self, PendingWebhooks.self,
            DeadWebhooks.self, ResendWebhooks.self,
        ]
    )
}

/// `gotchu-server webhooks add`.
struct AddWebhook: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Adds an endpoint and prints its secret, this once.",
        discussion: """
            Example:
              gotchu-server webhooks add https://shop.example/in --database sqlite:shop.db
            """
    )

    @Argument(help: "The URL to post to: https, on the public Internet.")
    var url: String

    @Option(help: "Only this payee's sessions, named as in devices add; else everybody's.")
    var payee: String?

    @Flag(help: "Let the endpoint be on this machine, and without TLS.")
    var dev = false

    @OptionGroup var database: DatabaseOption

    func run() async throws {
        let url = try checked()
        let store = try database.store
        let owner: User? = if let payee { try await store.user(payee) } else { nil }
        let endpoint = WebhookEndpoint(
            id: "whe_\(RecordID.make())",
            url: url.text,
            owner: owner?.id,
            createdAt: .now
        )
        let secret = WebhookSecret.random()
        // Swift 6.3.1 crashes on `where` after an error with a known type.
        do throws(any Error) {
            try await Outbox(store).add(endpoint, secret: secret.bytes)
        } catch let error as LedgerError where error.code == .rejected {
            throw ServerFailure(
                .negative,
                "There are \(WebhookEndpoint.limit) endpoints already.",
                fix: "gotchu-server webhooks list"
            )
        }
        Console.output("endpoint\t\(endpoint.id)")
        Console.output("url\t\(endpoint.url)")
        Console.output("secret\t\(secret.text)")
    }

    /// Checks the URL as every delivery does. A mistake is reported at once.
    private func checked() throws -> WebhookURL {
        guard let parsed = WebhookURL(url) else {
            throw ServerFailure(
                .usage,
                "The URL cannot be read.",
                fix: "Write it as https://HOST/PATH."
            )
        }
        do throws(WebhookTarget.Refusal) {
            let addresses = NetworkAddress.all(of: parsed.host)
            _ = try WebhookTarget(parsed, isDevelopment: dev, addresses: addresses)
        } catch {
            throw ServerFailure(
                .configuration,
                error.sentence,
                fix: "Name an https URL that everybody can reach; to develop, --dev and 127.0.0.1."
            )
        }
        return parsed
    }
}

/// `gotchu-server webhooks list`.
struct ListWebhooks: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the endpoints: id, URL, payee, waiting and dead deliveries, state.",
        discussion: """
            Example:
              gotchu-server webhooks list --database sqlite:shop.db
            """
    )

    @OptionGroup var database: DatabaseOption

    func run() async throws {
        for endpoint in try await Outbox(database.store).endpoints() {
            let state =
                endpoint.isBeingRemoved
                ? "being removed; if that was cut short, 'remove' it again"
                : endpoint.disabled.map { "disabled: \($0)" } ?? "ok"
            let fields = [
                endpoint.id, endpoint.url, endpoint.owner?.rawValue ?? "everybody",
                "\(endpoint.pendingCount) pending", "\(endpoint.deadCount) dead",
                state,
            ]
            Console.output(fields.joined(separator: "\t"))
        }
    }
}

/// `gotchu-server webhooks remove`.
struct RemoveWebhook: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Removes an endpoint with everything that waits for it.",
        discussion: """
            Example:
              gotchu-server webhooks remove whe_0198f3c1-7a5e-7c1e-9d53-0242ac120002 \\
                --database sqlite:shop.db

            A removal that was cut short is shown by 'list', and finished by this command.
            """
    )

    @Argument(help: "The endpoint's id, as 'list' prints it.")
    var id: String

    @OptionGroup var database: DatabaseOption

    func run() async throws {
        guard try await Outbox(database.store).remove(id) else {
            throw ServerFailure(
                .negative,
                "There is no such endpoint.",
                fix: "gotchu-server webhooks list"
            )
        }
        Console.output("Removed.")
    }
}

/// `gotchu-server webhooks pending`.
struct PendingWebhooks: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pending",
        abstract: "Lists deliveries that have not arrived yet, the next to be tried first.",
        discussion: """
            Example:
              gotchu-server webhooks pending --database sqlite:shop.db

            \(WebhookListing.columns)
            """
    )

    @OptionGroup var listing: WebhookListing

    func run() async throws { try await listing.show(dead: false) }
}

/// `gotchu-server webhooks dead`.
struct DeadWebhooks: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dead",
        abstract: "Lists deliveries that were given up, of the oldest sessions first.",
        discussion: """
            Example:
              gotchu-server webhooks dead --database sqlite:shop.db

            \(WebhookListing.columns)
            """
    )

    @OptionGroup var listing: WebhookListing

    func run() async throws { try await listing.show(dead: true) }
}

/// The arguments and output of `webhooks pending` and `webhooks dead`. Each lists a part of the
/// outbox.
struct WebhookListing: ParsableArguments {
    /// The help's sentence about the columns.
    static let columns = """
        Columns, with tabs between them: event, kind, session or contest, endpoint, tries, time of \
        the next try (no meaning for a dead delivery), last error.
        """

    @Option(help: "The largest number of lines.")
    var limit = 100

    @OptionGroup var database: DatabaseOption

    func validate() throws {
        guard (1...100_000).contains(limit) else {
            throw ValidationError("--limit must be from 1 to 100000")
        }
    }

    func show(dead: Bool) async throws {
        let entries = try await Outbox(database.store).backlog(dead: dead, limit: limit)
        for entry in entries { Console.output(entry.line) }
    }
}

extension WebhookBacklogEntry {
    /// The output line, with the columns of `WebhookListing.columns`.
    fileprivate var line: String {
        [
            id.event, kind, record, id.endpoint, attempts == 1 ? "1 try" : "\(attempts) tries",
            nextTryAt.iso8601, error ?? "-",
        ].joined(separator: "\t")
    }
}

/// `gotchu-server webhooks resend`.
struct ResendWebhooks: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resend",
        abstract: "Tries dead deliveries again, for another day.",
        discussion: """
            Examples:
              gotchu-server webhooks resend --database sqlite:shop.db
              gotchu-server webhooks resend evt_0198f3c1_3 --database sqlite:shop.db

            An endpoint that was disabled by an HTTP 410 is enabled again.
            """
    )

    @Argument(help: "One event, as 'dead' prints it; all of them unless given.")
    var event: String?

    @OptionGroup var database: DatabaseOption

    func run() async throws {
        let count = try await Outbox(database.store).resend(event: event, at: .now)
        guard count > 0 || event == nil else {
            throw ServerFailure(
                .negative,
                "No event with that id was given up.",
                fix: "gotchu-server webhooks dead"
            )
        }
        Console.output("\(count) to be sent again.")
    }
}
