/// Decides what the customer's display shows. Pure: takes events and the time, returns a
/// `DisplayView`.
///
/// Shows the newest request until its end has been shown. Then it shows an older request that is
/// still open. "Nothing was charged" is shown only if it is certain: either the payment server has
/// confirmed it, or no phone can have seen the request. If only this machine's clock says that a
/// request has expired, the display shows `checking`.
package struct DisplayFlow: Sendable {
    /// An event that may change the display.
    package enum Event: Sendable {
        /// Requests can, or cannot, be made and paid now.
        case readinessChanged(isReady: Bool)
        case serverChanged(isAnswering: Bool)
        /// A session is being requested from the payment server. The number identifies the attempt.
        case sessionRequested(Int, TippedAmount, memo: String?)
        /// The session was not created: nobody can have paid it.
        case sessionRequestFailed(Int)
        case opened(Int, DisplayRequest)
        /// A request from before the daemon's start, not yet confirmed by the payment server.
        case resumed(DisplayRequest)
        case changed(DisplayRequest)
        /// The payment server has confirmed that a request is unchanged.
        case confirmed(SessionID)
    }

    /// The maximum number of requests kept; the oldest are dropped.
    static let requestLimit = 48
    /// The timeout of an attempt to create a session.
    static let requestTimeout: Duration = .seconds(10)
    /// The time for which the radio or the server may be unavailable before the display shows
    /// `closed`.
    static let closingDelay: Duration = .seconds(5)

    private(set) var requests: [DisplayedRequest] = []
    private var isServerUnresponsive = false
    private var isReady = false
    /// The time at which `isReady` last became false; `nil` if it never did.
    private var unreadySince: MonotonicTime?

    package init() {}

    package mutating func handle(_ event: Event, at now: MonotonicTime) {
        requests.removeAll { $0.isOver(at: now) }
        switch event {
        case .readinessChanged(let isReady):
            if self.isReady, !isReady { unreadySince = now }
            self.isReady = isReady
        case .serverChanged(let isAnswering): isServerUnresponsive = !isAnswering
        case .sessionRequested(let attempt, let amount, let memo):
            add(DisplayedRequest(.attempt(attempt), amount, memo: memo, .requested(since: now)))
        case .sessionRequestFailed(let attempt):
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

    /// Returns what to show now.
    package func view(at now: MonotonicTime) -> DisplayView {
        guard let shown = shown(at: now), let state = shown.state(at: now) else {
            return DisplayView(isOpen(at: now) ? .idle : .closed)
        }
        var view = DisplayView(state)
        view.amount = shown.amount
        view.payee = shown.request?.payee
        view.shares = shown.request?.shares
        if case .paid(0, _)? = view.shares { view.shares = nil }
        guard state.isAwaitingPayment else { return view }
        view.memo = shown.memo
        view.isServerUnresponsive = isServerUnresponsive
        guard let request = shown.request, state == .waiting || state == .near else { return view }
        view.eid = request.eid
        view.countdown = .init(at: request.expiresAt, total: request.lifetime)
        view.isOffAir = shown.isOffAir(at: now)
        // Shown even while off the air: the link needs only the payment server.
        if state == .waiting { view.payLink = request.payLink }
        return view
    }

    /// Returns the next time at which the view changes without an event; `nil` if it does not.
    package func nextChange(after now: MonotonicTime) -> MonotonicTime? {
        var times = requests.flatMap(\.changeTimes)
        if let unreadySince, !isReady { times.append(unreadySince + Self.closingDelay) }
        return times.filter { $0 > now }.min()
    }

    private func isOpen(at now: MonotonicTime) -> Bool {
        isReady || unreadySince.map { now - $0 < Self.closingDelay } ?? false
    }

    private func shown(at now: MonotonicTime) -> DisplayedRequest? {
        requests.last { $0.state(at: now) != nil }
    }

    /// Adds a request. Requests that have ended are no longer shown: they concern another customer.
    private mutating func add(_ request: DisplayedRequest) {
        for index in requests.indices where requests[index].hasEnded {
            requests[index].isDismissed = true
        }
        requests.append(request)
        if requests.count > Self.requestLimit { requests.removeFirst() }
    }

    /// Changes a request. Does nothing if the request is no longer kept. If it ends while another
    /// request is shown, its end is not shown later.
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
