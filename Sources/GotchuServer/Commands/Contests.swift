internal import ArgumentParser
internal import Contests
internal import FoundationEssentials
internal import GotchuAPI
internal import GotchuCore
internal import Ledger
internal import LedgerStore
internal import ServiceProcess

/// `gotchu-server contests`: commands for the operator. All work while a server runs.
struct ContestsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "contests",
        abstract: "Adds templates, and looks after contests.",
        discussion: """
            Examples:
              gotchu-server contests template-add darts.json --database sqlite:shop.db
              gotchu-server contests list --database sqlite:shop.db
              gotchu-server contests replay ID --database sqlite:shop.db
            """,
        subcommands: [
            AddContestTemplate.self, ListContestTemplates.self, ListContests.self,
            ReplayContest.self, Recheck.self, CancelAnyContest.self,
        ]
    )
}

/// `gotchu-server contests template-add`.
struct AddContestTemplate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "template-add",
        abstract: "Adds a contest type from a JSON file. It is never changed again."
    )

    @Argument(help: "The template's file; docs/contests.md describes it.")
    var file: String

    @OptionGroup var database: DatabaseOption

    func run() async throws {
        let (template, image) = try read()
        let store = try database.store
        let owner = try await store.carryOut(
            OpenAccount(
                login: AddTemplate.ownerLogin,
                displayName: "Contest templates",
                opening: Money(minorUnits: 0)
            )
        )
        let command = AddTemplate(template, image: image, owner: owner.id)
        let isAdded = try await store.carryOut(command)
        guard isAdded else {
            throw ServerFailure(
                .negative,
                "The id \(template.id) is another template's, which never changes.",
                fix: "Give the template a new UUID."
            )
        }
        Console.output("template\t\(template.id)\t\(template.type)")
    }

    private func read() throws(ServerFailure) -> (ContestTemplate, TemplateImage?) {
        guard let bytes = try? Data(contentsOf: URL(filePath: file)), bytes.count <= 1 << 20 else {
            throw ServerFailure(
                .inputOutput,
                "The template at \(file) cannot be read, or has more than 1 MiB.",
                fix: "Name a JSON file."
            )
        }
        do throws(ContestTemplate.Malformed) {
            let folder = URL(filePath: file).deletingLastPathComponent()
            return try ContestTemplate.read(file: Array(bytes)) { name in
                try? Data(contentsOf: folder.appending(path: name))
            }
        } catch {
            throw ServerFailure(
                .badData,
                "The template cannot be used: \(error.reason)",
                fix: "See docs/contests.md for its members."
            )
        }
    }
}

/// `gotchu-server contests template-list`.
struct ListContestTemplates: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "template-list",
        abstract: "Lists the contest types: the built-in ones, then those added."
    )

    @OptionGroup var database: DatabaseOption

    func run() async throws {
        for template in ContestTemplate.builtIn {
            Console.output("\(template.id)\t\(template.type)\tbuilt in")
        }
        let page = RecordPage(of: nil, kind: ContestTemplate.kind, before: nil, limit: 1000)
        for record in try await database.store.records(page) {
            let template = try ContestTemplate(record)
            Console.output("\(template.id)\t\(template.type)\t\(record.createdAt.iso8601)")
        }
    }
}

/// `gotchu-server contests list`.
struct ListContests: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the newest 1000 contests, newest first."
    )

    @OptionGroup var database: DatabaseOption

    func run() async throws {
        let page = RecordPage(of: nil, kind: Contest.kind, before: nil, limit: 1000)
        let store = try database.store
        for record in try await store.records(page) {
            guard let contest = (try? Contest(record))?.asOf(store.now) else {
                Console.output("\(record.id)\tunreadable")
                continue
            }
            let pot = contest.isOver ? 0 : contest.division.pool + contest.division.rake
            Console.output(
                "\(contest.id)\t\(contest.state.rawValue)\t\(contest.body.entryCount)\t"
                    + "\(Money(minorUnits: pot))\t\(contest.terms.title)"
            )
        }
    }
}

/// `gotchu-server contests replay`.
struct ReplayContest: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Computes a settlement again from its rows, and compares it with the stored one.",
        discussion: "Ends with 1 if they differ. gotchu-server verify compares the transfer too."
    )

    @Argument(help: "The contest's id.")
    var contest: String

    @OptionGroup var database: DatabaseOption

    func run() async throws {
        let store = try database.store
        let contest = try await store.contest(self.contest)
        var records: [Record] = []
        var last: Int64 = 0
        while true {
            let page = try await store.children(of: contest.id, after: last, limit: 1000)
            records += page.map(\.record)
            guard page.count == 1000, let end = page.last else { break }
            last = end.number
        }
        let (entries, revisions) = try ContestChildren.read(records)
        let plan = SettlementPlan(contest.terms, entries: entries, revisions: revisions)
        for payout in plan.payouts {
            Console.output(
                "\(payout.standing.rank ?? 0)\t\(payout.standing.entry.number)\t"
                    + "\(Money(minorUnits: payout.amount, currency: contest.terms.currency))"
            )
        }
        if let violation = plan.violation(of: contest) {
            throw ServerFailure(
                .negative,
                "The settlement cannot be proven: \(violation).",
                fix: "gotchu-server verify"
            )
        }
        Console.output("the same as settled\t\(plan.resultHash)")
    }
}

/// `gotchu-server contests recheck`.
struct Recheck: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recheck",
        abstract: "Checks again the pot of a contest that was stopped because of it."
    )

    @Argument(help: "The contest's id.")
    var contest: String

    @OptionGroup var database: DatabaseOption

    func run() async throws {
        let store = try database.store
        let known = try await store.contest(self.contest)
        let contest = try await store.carryOut(RecheckContest(contest: known.id))
        guard contest.state != .error else {
            throw ServerFailure(
                .negative,
                "The pot still does not match the entries. Nothing moves.",
                fix: "gotchu-server verify"
            )
        }
        Console.output("\(contest.id)\t\(contest.state.rawValue)")
    }
}

/// `gotchu-server contests cancel`.
struct CancelAnyContest: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "Cancels a contest for its organiser: all stakes go back in one commit."
    )

    @Argument(help: "The contest's id.")
    var contest: String

    @Option(help: "The reason, which entrants see: 1 to 140 characters.")
    var reason: String

    @OptionGroup var database: DatabaseOption

    func run() async throws {
        guard (1...140).contains(reason.unicodeScalars.count) else {
            throw ServerFailure(.usage, "The reason must have 1 to 140 characters.")
        }
        let store = try database.store
        let known = try await store.contest(self.contest)
        let cancel = CancelContest(contest: known.id, organizer: nil, reason: reason)
        if case .failure(let refusal) = try await store.commit(cancel) {
            if refusal.reason == .potUnequal {
                _ = try await store.commit(SweepContest(contest: known.id, isChecking: true))
            }
            throw ServerFailure(.negative, refusal.problem.detail)
        }
        let contest = try await store.contest(self.contest)
        Console.output("\(contest.id)\t\(contest.state.rawValue)")
    }
}

extension Store {
    /// Returns a contest by its id, in its current state.
    fileprivate func contest(_ text: String) async throws -> Contest {
        guard let id = ContestID.parse(text), let record = try await record(id),
            record.kind == Contest.kind
        else {
            throw ServerFailure(
                .negative,
                "There is no contest \(text) in this database.",
                fix: "gotchu-server contests list"
            )
        }
        return try Contest(record).asOf(now)
    }
}
