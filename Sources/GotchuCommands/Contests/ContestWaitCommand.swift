import ArgumentParser
import GotchuAPI
import GotchuCore
import LocalAPI
import ServiceProcess

/// `gotchu-ctl contest wait`: waits until a contest is settled or cancelled.
struct ContestWaitCommand: ContestVerb {
    static let configuration = CommandConfiguration(
        commandName: "wait",
        abstract: "Wait until a contest is settled or cancelled, and show your result.",
        discussion: """
            EXAMPLES:
              gotchu-ctl contest wait ID
              gotchu-ctl contest wait ID --timeout 3600 --json

            Exits with 0 once it is settled, with 1 if it was cancelled, and with 75 when neither \
            has happened in time. Asking costs little: the server sends what has changed.
            """
    )

    /// The polling interval in the first minute, and the interval after it.
    private static let pauses: (first: Duration, later: Duration) = (.seconds(2), .seconds(10))

    @OptionGroup var target: ContestOptions

    @Option(help: .value("seconds", "Give up after this time."))
    var timeout = Seconds(86_400)

    func run(_ access: ContestAccess, _ output: Output) async throws {
        let outcome = try await race(limit: timeout.duration) {
            try await end(of: access, output)
        }
        switch outcome {
        case .finished(let detail): try await report(detail, access, output)
        case .timedOut:
            throw CommandFailure.tryAgain(
                "The contest has not ended within \(timeout.duration.wholeSecondsText).",
                next: access.command("show")
            )
        case .interrupted: throw ExitCode(ExitStatus.interrupted.rawValue)
        }
    }

    /// Polls until the contest has ended. Transient failures are retried.
    private func end(of access: ContestAccess, _ output: Output) async throws -> ContestDetail {
        let start = ContinuousClock.now
        var known = try await access.detail()
        var shown = ""
        while true {
            let detail = known.document
            if detail.state == .paid || detail.state == .cancelled { return detail }
            if detail.stateText != shown, !output.isJSON {
                shown = detail.stateText
                output.message("\(detail.title) is \(shown) …")
            }
            let isYoung = start.duration(to: .now) < .seconds(60)
            // No event reports the end of a contest: poll. The caller's time limit ends the
            // polling.
            try await Task.sleep(for: isYoung ? Self.pauses.first : Self.pauses.later)
            do {
                known = try await access.detail(unless: known.tag) ?? known
            } catch LocalClientFailure.problem(let problem) where problem.isTransient {
                continue
            } catch let failure as LocalClientFailure where failure.isDaemonUnavailable {
                continue
            }
        }
    }

    private func report(
        _ detail: ContestDetail,
        _ access: ContestAccess,
        _ output: Output
    ) async throws {
        var outcome = ContestOutcome(detail)
        guard detail.state == .paid else {
            throw CommandFailure.about(
                outcome,
                .negative(outcome.sentence(of: detail), next: "gotchu-ctl wallet")
            )
        }
        if detail.entry != nil { outcome.add(try await access.ownStanding()) }
        if output.isJSON { return try output.json(outcome) }
        output.line(outcome.sentence(of: detail))
    }
}

extension Problem {
    /// A Boolean that is true if a retry may soon succeed.
    fileprivate var isTransient: Bool {
        [.serverUnreachable, .tryAgain, .rateLimited, .internalError].contains(errorCode)
    }
}

/// The outcome of a contest for its entrant: the output of `wait --json`.
struct ContestOutcome: Encodable, Sendable {
    let contest: WireUUID
    let state: ContestState
    /// The number of the user's entry; `nil` without an entry.
    let entry: Int64?
    private(set) var rank: Int64?
    /// The prize in minor units; `nil` if the user has no standing.
    private(set) var payoutCents: Int64?
    let currency: Currency

    init(_ detail: ContestDetail) {
        contest = detail.id
        state = detail.state
        entry = detail.entry?.entryNumber.value
        currency = detail.currency
    }

    mutating func add(_ standing: Leaderboard.Standing?) {
        rank = standing?.rank.value?.value
        payoutCents = standing.map { $0.payoutCents.value?.value ?? 0 }
    }

    func sentence(of detail: ContestDetail) -> String {
        guard state == .paid else {
            let isBack = entry != nil && detail.entryFeeCents.value > 0
            return "\(detail.title) was cancelled"
                + (isBack ? ": \(detail.fee) went back to your wallet." : ".")
        }
        guard entry != nil else { return "\(detail.title) is settled." }
        let prize = Money(minorUnits: payoutCents ?? 0, currency: currency)
        let won = prize.minorUnits > 0 ? "you won \(prize)." : "you won nothing this time."
        guard let rank else { return "\(detail.title) is settled: you have no rank, \(won)" }
        return "\(detail.title) is settled: rank \(rank) of \(detail.entryCount.value), \(won)"
    }

    private enum CodingKeys: String, CodingKey {
        case contest = "contest_id"
        case state
        case entry = "entry_number"
        case rank
        case payoutCents = "payout_cents"
        case currency
    }
}
