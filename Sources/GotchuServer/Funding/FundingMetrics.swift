internal import Funding
internal import GotchuCore
internal import Ledger
internal import ServiceProcess
internal import Stripe
internal import Synchronization

/// The metrics of deposits, payouts and the provider.
final class FundingMetrics: Sendable {
    private struct Key: Hashable, Comparable {
        let first: String
        let second: String

        static func < (left: Key, right: Key) -> Bool {
            (left.first, left.second) < (right.first, right.second)
        }
    }

    private struct State {
        var calls: [Key: Int] = [:]
        var events: [Key: Int] = [:]
        var deposits: [String: Int] = [:]
        var withdrawals: [String: Int] = [:]
        var held: Set<RecordID> = []
        var unreleased: Set<RecordID> = []
        var retries = 0
        var replays = 0
        var isUp: Bool?
        var callTime = Histogram.human
        var creation = Histogram.human
    }

    private let state = Mutex(State())

    func countCall(_ report: StripeCallReport) {
        state.withLock { state in
            let key = Key(first: report.call, second: report.outcome.rawValue)
            state.calls[key, default: 0] += 1
            state.callTime.observe(report.time)
            if report.isReplay { state.replays += 1 }
            if [.unknown, .unresolved, .throttled].contains(report.outcome) { state.retries += 1 }
            if let isAnswer = report.isAnswer { state.isUp = isAnswer }
        }
    }

    /// Counts an event from Stripe.
    ///
    /// - Parameters:
    ///   - type: One of `ProviderEvent.types`. Any other type, an empty one too, is counted as
    ///     `other`, so callers cannot add lines to the metrics page.
    ///   - outcome: A label that this server defines.
    func countEvent(_ type: String, _ outcome: String) {
        let name = ProviderEvent.types.contains(type) ? type : "other"
        state.withLock { $0.events[Key(first: name, second: outcome), default: 0] += 1 }
    }

    /// Updates the set of records that wait for the operator. If the record's state differs from
    /// `previous`, counts the state.
    func countState(of record: Record, previous: String?) {
        state.withLock { state in
            state.held.keep(record.id, record.state == DepositBody.State.held.rawValue)
            state.unreleased.keep(record.id, Self.needsRelease(record))
        }
        if record.state != previous { countEntry(into: record.state, of: record.kind) }
    }

    /// Counts a record of a kind that has entered a state.
    func countEntry(into name: String, of kind: String) {
        state.withLock { state in
            switch kind {
            case DepositBody.kind: state.deposits[name.lowercased(), default: 0] += 1
            case WithdrawalBody.kind: state.withdrawals[name.lowercased(), default: 0] += 1
            default: break  // A payee's states are shown to the payee.
            }
        }
    }

    private static func needsRelease(_ record: Record) -> Bool {
        guard record.kind == WithdrawalBody.kind, let withdrawal = try? Withdrawal(record) else {
            return false
        }
        return withdrawal.state == .pending && withdrawal.body.needsRelease
    }

    /// The records that waited for the operator when this server last saw them.
    var waiting: Set<RecordID> { state.withLock { $0.held.union($0.unreleased) } }

    /// Records the time that a payer waited for a deposit to be opened.
    func recordOpening(in time: Duration) {
        state.withLock { $0.creation.observe(time) }
    }

    func add(to page: inout MetricsPage) {
        let state = self.state.withLock { $0 }
        page.counter(
            "gotchu_server_deposits_total",
            "Deposits that this server has seen enter a state.",
            DepositBody.State.allCases.map { each in
                let name = each.rawValue.lowercased()
                return (["status": name], state.deposits[name] ?? 0)
            }
        )
        page.counter(
            "gotchu_server_withdrawals_total",
            "Withdrawals that this server has seen enter a state.",
            WithdrawalBody.State.allCases.map { each in
                let name = each.rawValue.lowercased()
                return (["status": name], state.withdrawals[name] ?? 0)
            }
        )
        page.gauge(
            "gotchu_server_funding_held",
            "Deposits and withdrawals that wait for the operator, as this server has seen them.",
            state.held.count
        )
        page.gauge(
            "gotchu_server_withdrawals_unreleased",
            "Withdrawals of new payees that wait for `payouts release`, as this server has seen "
                + "them.",
            state.unreleased.count
        )
        page.histogram(
            "gotchu_server_deposit_create_seconds",
            "The time that a payer has waited for a deposit to be opened.",
            state.creation
        )
        addCalls(state, to: &page)
    }

    private func addCalls(_ state: State, to page: inout MetricsPage) {
        page.counter(
            "gotchu_server_stripe_requests_total",
            "Calls to Stripe, by their outcome.",
            state.calls.sorted { $0.key < $1.key }.map {
                (["call": $0.key.first, "outcome": $0.key.second], $0.value)
            }
        )
        page.histogram(
            "gotchu_server_stripe_request_seconds",
            "The time of a call to Stripe, including the wait before it.",
            state.callTime
        )
        page.counter(
            "gotchu_server_stripe_replays_total",
            "Calls to Stripe that got the stored reply to an earlier call with the same key.",
            state.replays
        )
        page.counter(
            "gotchu_server_stripe_retries_total",
            "Calls to Stripe whose outcome is not known yet: they are repeated.",
            state.retries
        )
        page.counter(
            "gotchu_server_stripe_events_total",
            "Events from Stripe, by their type and outcome.",
            state.events.sorted { $0.key < $1.key }.map {
                (["type": $0.key.first, "outcome": $0.key.second], $0.value)
            }
        )
        if let isUp = state.isUp {
            page.gauge("gotchu_server_stripe_up", "1 if Stripe answers.", isUp ? 1 : 0)
        }
    }
}

extension Set {
    /// Inserts an element if `isKept` is true, else removes it.
    fileprivate mutating func keep(_ element: Element, _ isKept: Bool) {
        if isKept { insert(element) } else { remove(element) }
    }
}
