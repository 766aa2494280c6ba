/// Decides what the customer's display shows. Pure: events and the time in, a `DisplayView` out.
///
/// The newest request is shown, until it has ended and been seen; then an older one that is still
/// open. "Nothing was charged" is shown only where it is certain: by the payment server's word, or
/// because no phone has ever heard of the request. An end that only this machine's clock knows is
/// `checking`.
package struct DisplayFlow: Sendable {
    /// A thing that happened.
    package enum Event: Sendable {
        /// Requests can be made and paid now, or not.
        case readinessChanged(isReady: Bool)
        case serverChanged(isAnswering: Bool)
        /// The payment server is asked for a session. The number names the attempt from now on.
        case asking(Int, TippedAmount, memo: String?)
        /// There will be none: nobody can have paid it.
        case askingFailed(Int)
        case opened(Int, DisplayRequest)
        /// A request of before the daemon's start; the payment server has not spoken of it yet.
        case resumed(DisplayRequest)
        case changed(DisplayRequest)
        /// The payment server has spoken of a request, which is as it was.
        case confirmed(SessionID)
    }

    /// The requests that are remembered, the newest.
    static let requestLimit = 48
    /// The time after which an attempt to ask counts as failed.
    static let askingLimit: Duration = .seconds(10)
    /// The time for which a radio or server may be away before payments count as closed.
    static let closingDelay: Duration = .seconds(5)

    private(set) var requests: [DisplayedRequest] = []
    private var isServerSilent = false
    private var isReady = false
    /// The time since which `isReady` has been false; `nil` at first.
    private var unreadySince: MonotonicTime?

    package init() {}

    package mutating func handle(_ event: Event, at now: MonotonicTime) {
        requests.removeAll { $0.isOver(at: now) }
        switch event {
        case .readinessChanged(let isReady):
            if self.isReady, !isReady { unreadySince = now }
            self.isReady = isReady
        case .serverChanged(let isAnswering): isServerSilent = !isAnswering
        case .asking(let attempt, let amount, let memo):
            add(DisplayedRequest(.attempt(attempt), amount, memo: memo, .asked(since: now)))
        case .askingFailed(let attempt):
            change(.attempt(attempt), at: now) { $0.stage = .failed(since: now) }
        case .opened(let attempt, let request):
            change(.attempt(attempt), at: now) { shown in
                shown.key = .session(request.id)
                shown.apply(request, at: now)
            }
        case .resumed(let request):
            var resumed = DisplayedRequest(request, at: now)
            resumed.isConfirmed = false
            add(resumed)
        case .changed(let request):
            change(.session(request.id), at: now) { $0.apply(request, at: now) }
        case .confirmed(let id): change(.session(id), at: now) { $0.isConfirmed = true }
        }
    }

    /// The things to show now.
    package func view(at now: MonotonicTime) -> DisplayView {
        guard let shown = shown(at: now), let state = shown.state(at: now) else {
            return DisplayView(isOpen(at: now) ? .idle : .closed)
        }
        var view = DisplayView(state)
        view.amount = shown.amount
        view.payee = shown.request?.payee
        view.shares = shown.request?.shares
        if case .paid(0, _)? = view.shares { view.shares = nil }
        guard state.isAsking else { return view }
        view.memo = shown.memo
        view.isServerSilent = isServerSilent
        guard let request = shown.request, state == .waiting || state == .near else { return view }
        view.eid = request.eid
        view.ending = .init(at: request.expiresAt, total: request.lifetime)
        view.isOffAir = shown.isOffAir(at: now)
        // Also off the air: the payment server knows it all the same.
        if state == .waiting { view.payLink = request.payLink }
        return view
    }

    /// The next time at which the view changes by itself, if it does.
    package func nextChange(after now: MonotonicTime) -> MonotonicTime? {
        var moments = requests.flatMap(\.moments)
        if let unreadySince, !isReady { moments.append(unreadySince + Self.closingDelay) }
        return moments.filter { $0 > now }.min()
    }

    private func isOpen(at now: MonotonicTime) -> Bool {
        isReady || unreadySince.map { now - $0 < Self.closingDelay } ?? false
    }

    private func shown(at now: MonotonicTime) -> DisplayedRequest? {
        requests.last { $0.state(at: now) != nil }
    }

    /// Adds a request. The end of an earlier one is another customer's affair from now on.
    private mutating func add(_ request: DisplayedRequest) {
        for index in requests.indices where requests[index].hasEnded {
            requests[index].isDismissed = true
        }
        requests.append(request)
        if requests.count > Self.requestLimit { requests.removeFirst() }
    }

    /// Changes a request that is remembered: the end of another was seen, or never was to be. One
    /// that ends while another is shown is not shown later.
    private mutating func change(
        _ key: DisplayedRequest.Key,
        at now: MonotonicTime,
        _ change: (inout DisplayedRequest) -> Void
    ) {
        guard let index = requests.firstIndex(where: { $0.key == key }) else { return }
        let isShown = shown(at: now)?.key == key
        change(&requests[index])
        requests[index].isDismissed = requests[index].hasEnded && !isShown
    }
}
