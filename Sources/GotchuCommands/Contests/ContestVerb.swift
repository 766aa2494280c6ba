import ArgumentParser
import GotchuAPI
import GotchuCore
import LocalAPI

/// A command about one contest.
protocol ContestVerb: SocketCommand {
    var target: ContestOptions { get }

    func run(_ access: ContestAccess, _ output: Output) async throws
}

/// The options of every command about one contest.
struct ContestOptions: ParsableArguments, Sendable {
    @OptionGroup var common: CommonOptions

    @Argument(help: "The contest's id.")
    var contest: String
}

extension ContestVerb {
    var options: CommonOptions { target.common }

    func run(_ client: LocalClient, _ output: Output) async throws {
        guard let id = WireUUID(target.contest.lowercased()) else {
            throw CommandFailure.badData(
                "'\(target.contest.shortened)' is not a contest's id.",
                next: "gotchu-ctl contest list"
            )
        }
        let access = ContestAccess(client: client, id: id)
        do {
            try await run(access, output)
        } catch LocalClientFailure.problem(let problem) {
            var told = problem.about(id)
            if problem.errorCode == .contestState, let now = try? await access.detail().document {
                told.detail += " \(now.stateSentence)"
            }
            throw LocalClientFailure.problem(told)
        }
    }
}

/// One contest, accessed through the daemon.
struct ContestAccess: Sendable {
    /// The largest page of a leaderboard, in entries.
    static let boardPage = 200

    let client: LocalClient
    let id: WireUUID

    /// Returns a command about this contest, for a person to type.
    func command(_ verb: String, _ more: String = "") -> String {
        "gotchu-ctl contest \(verb) \(id)" + (more.isEmpty ? "" : " \(more)")
    }

    func detail(invitation: String? = nil) async throws -> ContestReply<ContestDetail> {
        let query = invitation.map { "?join_token=\(percentEncoded($0))" } ?? ""
        return try await get(query, as: ContestDetail.self)
    }

    /// Returns the contest if it has changed, otherwise `nil`.
    ///
    /// - Parameter tag: The entity tag of the known document.
    func detail(unless tag: String?) async throws -> ContestReply<ContestDetail>? {
        var call = ContestCall(.get, "/\(id)", document: ContestDetail.self)
        (call.language, call.knownTag) = (Environment.language, tag)
        return try await client.contest(call, as: ContestDetail.self)
    }

    func board(limit: Int, cursor: String?) async throws -> ContestReply<Leaderboard> {
        let start = cursor.map { "&cursor=\(percentEncoded($0))" } ?? ""
        return try await get("/leaderboard?limit=\(limit)\(start)", as: Leaderboard.self)
    }

    /// Returns the user's own standing; `nil` if no page of the leaderboard has it.
    func ownStanding() async throws -> Leaderboard.Standing? {
        var cursor: String?
        repeat {
            let page = try await board(limit: Self.boardPage, cursor: cursor).document
            if let own = page.standings.first(where: { $0.isYou == true }) { return own }
            cursor = page.nextCursor
        } while cursor != nil
        return nil
    }

    func get<Document: ContestDocument>(
        _ path: String,
        as type: Document.Type
    ) async throws -> ContestReply<Document> {
        var call = ContestCall(.get, "/\(id)\(path)", document: type)
        call.language = Environment.language
        return try await required(client.contest(call, as: type))
    }

    /// Makes a call that changes the contest.
    ///
    /// - Parameter isKeyed: True if the call moves money. It then has an idempotency key, and is
    ///   retried with it while the server does not answer.
    func post<Document: ContestDocument>(
        _ verb: String,
        _ body: [String: JSONValue] = [:],
        as type: Document.Type,
        isKeyed: Bool = false
    ) async throws -> ContestReply<Document> {
        var call = ContestCall(.post, "/\(id)/\(verb)", document: type)
        call.language = Environment.language
        call.body = CanonicalJSON.bytes(of: JSONValue.object(body))
        guard isKeyed else { return try await required(client.contest(call, as: type)) }
        return try await client.retryingWhileUnavailable { key in
            var call = call
            call.key = key
            return try await required(client.contest(call, as: type))
        }
    }

    /// Makes a call that changes the contest, and prints the reply if the output is JSON.
    ///
    /// - Returns: The contest; `nil` if the reply was printed.
    func act(
        _ verb: String,
        _ output: Output,
        _ body: [String: JSONValue] = [:],
        isKeyed: Bool = false
    ) async throws -> ContestDetail? {
        let reply = try await post(verb, body, as: ContestDetail.self, isKeyed: isKeyed)
        guard output.isJSON else { return reply.document }
        output.document(reply.bytes)
        return nil
    }

    private func required<Document>(
        _ reply: ContestReply<Document>?
    ) throws -> ContestReply<Document> {
        guard let reply else { throw LocalClientFailure.unreadableReply(underlying: "no document") }
        return reply
    }
}

extension Environment {
    /// The user's language in the format of `Accept-Language`: `de-DE`; `nil` if none is set.
    static var language: String? {
        let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap { Environment[$0] }.first
        let name = (locale ?? "").prefix { $0 != "." && $0 != "@" }
        guard !name.isEmpty, name != "C", name != "POSIX",
            name.utf8.allSatisfy({ (0x30...0x7A).contains($0) })
        else { return nil }
        return String(name.map { $0 == "_" ? "-" : $0 })
    }
}

extension Problem {
    /// The problem with amounts and a next command for a contest.
    func about(_ id: WireUUID) -> Problem {
        var problem = self
        // All contests have the same currency.
        if errorCode == .insufficientWalletBalance, let requiredCents, let availableCents,
            let shortage = Shortage(
                asked: Money(minorUnits: requiredCents),
                held: Money(minorUnits: availableCents)
            )
        {
            problem.detail = shortage.sentence
            problem.fix = shortage.fix
        }
        problem.fix = problem.fix ?? next(id)
        return problem
    }

    private func next(_ id: WireUUID) -> String? {
        switch errorCode {
        case .scoresChanged, .noScores: "gotchu-ctl contest board \(id)"
        case .rosterInvalid: "gotchu-ctl contest roster \(id)"
        case .contestFull, .contestLocked, .alreadyJoined, .contestState, .contestCancelled,
            .contestDisputed, .notJoined, .ownContest, .amountChanged:
            "gotchu-ctl contest show \(id)"
        default: nil  // SAFETY: other codes keep their default fix.
        }
    }
}
