/// One request of the display, with the times from which its state is computed.
struct DisplayedRequest: Sendable {
    enum Key: Equatable, Sendable {
        case attempt(Int)
        case session(SessionID)
    }

    enum Stage: Equatable, Sendable {
        case requested(since: MonotonicTime)
        case failed(since: MonotonicTime)
        case open
        case locked(since: MonotonicTime)
        case ended(DisplayState, since: MonotonicTime)
    }

    /// The delay before a lock is shown, so that a fast payment does not flash `confirming`.
    static let lockDelay: Duration = .milliseconds(400)
    /// The longest time off the air that is normal when the EID or the turn changes.
    static let airGap: Duration = .seconds(1)
    static let noticeDuration: Duration = .seconds(10)
    static let releaseDuration: Duration = .seconds(5)
    static let failureDuration: Duration = .seconds(6)
    /// The time to wait after the expiry for the payment server to report the outcome.
    static let expiryGrace: Duration = .seconds(2)

    var key: Key
    private(set) var amount: TippedAmount
    let memo: String?
    var stage: Stage
    private(set) var request: DisplayRequest?
    /// A Boolean that is false for a resumed request until the payment server has confirmed it.
    var isConfirmed = true
    /// A Boolean that is true if its end must not be shown, or must no longer be shown.
    var isDismissed = false
    private var noticedAt: MonotonicTime?
    private var releasedAt: MonotonicTime?
    private var offAirSince: MonotonicTime?

    init(_ key: Key, _ amount: TippedAmount, memo: String?, _ stage: Stage) {
        self.key = key
        self.amount = amount
        self.memo = memo
        self.stage = stage
    }

    init(_ request: DisplayRequest, at now: MonotonicTime) {
        self.init(.session(request.id), request.amount, memo: request.memo, .open)
        apply(request, at: now)
    }

    /// A Boolean that is true if its attempt failed, or it is neither open nor locked any more. The
    /// outcome may still be unknown.
    var hasEnded: Bool {
        switch stage {
        case .failed, .ended: true
        case .requested, .open, .locked: false
        }
    }

    /// Returns true if it can be dropped: its end is no longer shown, and its outcome is known.
    func isOver(at now: MonotonicTime) -> Bool {
        switch stage {
        case .ended(.checking, _), .open, .locked, .requested: false
        case .failed, .ended: state(at: now) == nil
        }
    }

    mutating func apply(_ new: DisplayRequest, at now: MonotonicTime) {
        let old = request
        // A final state reported by the payment server never changes.
        if let old, [.paid, .expired, .cancelled].contains(old.phase) { return }
        request = new
        amount = new.amount
        noticedAt = new.noticedAt ?? noticedAt
        offAirSince = new.isOnAir ? nil : offAirSince ?? now
        guard old?.phase != new.phase else { return }
        isConfirmed = true
        switch new.phase {
        case .open:
            if old?.phase == .locked { releasedAt = now }
            stage = .open
        case .locked: stage = .locked(since: now)
        case .paid: stage = .ended(.paid, since: now)
        case .expired: stage = .ended(.expired, since: now)
        case .cancelled: stage = .ended(.cancelled, since: now)
        case .unknown: stage = .ended(.checking, since: now)
        }
    }

    func isOffAir(at now: MonotonicTime) -> Bool {
        offAirSince.map { now - $0 >= Self.airGap } ?? false
    }

    /// Returns the state in which it is shown; `nil` if it is not shown.
    func state(at now: MonotonicTime) -> DisplayState? {
        switch stage {
        case .requested(let since):
            if now - since < DisplayFlow.requestTimeout { return .preparing }
            return now - since < DisplayFlow.requestTimeout + Self.failureDuration
                ? .unavailable : nil
        case .failed(let since):
            return !isDismissed && now - since < Self.failureDuration ? .unavailable : nil
        case .locked(let since):
            guard isConfirmed else { return .checking }
            return now - since >= Self.lockDelay ? .confirming : openState(at: now)
        case .open: return isConfirmed ? openState(at: now) : .checking
        case .ended(let state, let since):
            return !isDismissed && now - since < Self.displayDuration(of: state) ? state : nil
        }
    }

    private func openState(at now: MonotonicTime) -> DisplayState {
        if stage == .open, let request, now >= request.expiresAt + Self.expiryGrace {
            return .checking
        }
        let noticed = noticedAt.flatMap { now - $0 < Self.noticeDuration ? $0 : nil }
        let released = releasedAt.flatMap { now - $0 < Self.releaseDuration ? $0 : nil }
        if let released, noticed.map({ $0 < released }) ?? true { return .released }
        return noticed == nil ? .waiting : .near
    }

    /// The times at which its state may change without an event.
    var changeTimes: [MonotonicTime] {
        switch stage {
        case .requested(let since):
            let limit = since + DisplayFlow.requestTimeout
            return [limit, limit + Self.failureDuration]
        case .failed(let since): return [since + Self.failureDuration]
        case .locked(let since): return openChangeTimes + [since + Self.lockDelay]
        case .open: return openChangeTimes
        case .ended(let state, let since): return [since + Self.displayDuration(of: state)]
        }
    }

    private var openChangeTimes: [MonotonicTime] {
        let times: [MonotonicTime?] = [
            offAirSince.map { $0 + Self.airGap }, noticedAt.map { $0 + Self.noticeDuration },
            releasedAt.map { $0 + Self.releaseDuration },
            request.map { $0.expiresAt + Self.expiryGrace },
        ]
        return times.compactMap(\.self)
    }

    /// Returns the time for which an end is shown unless another request comes.
    private static func displayDuration(of state: DisplayState) -> Duration {
        switch state {
        case .paid: .seconds(8)
        case .expired: .seconds(6)
        case .cancelled: .seconds(4)
        case .checking: .seconds(600)
        case .idle, .closed, .preparing, .waiting, .near, .confirming, .released, .unavailable,
            .offline:
            .zero
        }
    }
}
