import GotchuAPI
import GotchuCore
import Pages
import Synchronization

/// The state of the customer's display. Receives events and returns the content to show.
final class DisplayBoard: Sendable {
    /// The time after a request's expiry during which a restart still shows the request.
    private static let resumeLimit: Duration = .seconds(600)

    /// Yields an element whenever the content or the readers may have changed.
    let wakes: AsyncStream<Void>
    private let wakeUp: AsyncStream<Void>.Continuation
    private let page: DisplayPage
    private let flow = Mutex(DisplayFlow())

    init(_ page: DisplayPage) {
        self.page = page
        (wakes, wakeUp) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        wake()
    }

    func apply(_ step: RequestStep) {
        switch step {
        case .sessionRequested(let attempt, let new):
            let amount = Money(minorUnits: new.amountCents, currency: new.currency ?? .usd)
            handle(.sessionRequested(attempt, TippedAmount(amount, tip: nil), memo: new.memo))
        case .sessionRequestFailed(let attempt): handle(.sessionRequestFailed(attempt))
        case .opened(let attempt, let view): handle(.opened(attempt, DisplayRequest(view)))
        case .resumed(let view):
            guard view.expiresAt.advanced(by: Self.resumeLimit) > .now else { return }
            handle(.resumed(DisplayRequest(view)))
        case .changed(let view): handle(.changed(DisplayRequest(view)))
        case .confirmed(let id): handle(.confirmed(id))
        }
    }

    func apply(_ status: StatusReply) {
        handle(.serverChanged(isAnswering: status.server.isReachable != false))
        handle(.readinessChanged(isReady: status.isReady))
    }

    private func handle(_ event: DisplayFlow.Event) {
        flow.withLock { $0.handle(event, at: .now) }
        wake()
    }

    func wake() { wakeUp.yield() }

    func view(at now: MonotonicTime) -> DisplayView { flow.withLock { $0.view(at: now) } }

    /// Returns the next time at which the view changes without an event; `nil` if there is none.
    func nextChange(after now: MonotonicTime) -> MonotonicTime? {
        flow.withLock { $0.nextChange(after: now) }
    }

    /// The current display, with its texts.
    var reply: DisplayReply {
        let now = MonotonicTime.now
        let view = view(at: now)
        let text = DisplayText(view, in: page.appearance.languages)
        var reply = DisplayReply(
            build: page.build,
            state: view.state,
            language: text.language,
            isRightToLeft: text.isRightToLeft,
            headline: text.headline
        )
        // The payee's name. The payer compares it with the name on the phone.
        reply.shop = view.payee ?? page.appearance.shop
        reply.amount = text.amount
        reply.amountCents = view.amount?.amount.minorUnits
        reply.currency = view.amount?.amount.currency
        reply.tip = text.tip
        reply.memo = view.memo
        reply.line = text.line
        if let second = text.second, let language = text.secondLanguage {
            reply.second = .init(language: language, text: second)
        }
        reply.note = text.note
        if let eid = view.eid {
            reply.code = .init(text: String("\(eid)".suffix(4)), label: text.code)
        }
        if let countdown = view.countdown {
            reply.left = .init(
                milliseconds: Int(max(.zero, countdown.at - now).wholeMilliseconds),
                totalMilliseconds: Int(countdown.total.wholeMilliseconds),
                label: text.left
            )
        }
        if let url = view.payLink, let code = QRCode(url) {
            let qr = DisplayReply.PayLink.QR(side: code.side, path: code.path)
            reply.payLink = .init(url: url, qr: qr, label: text.scan)
        }
        return reply
    }
}

extension DisplayRequest {
    /// Creates the display's request from the daemon's view. Its wall-clock times are by this
    /// machine's clock.
    fileprivate init(_ view: RequestView) {
        let phase: Phase =
            switch view.state {
            case .advertising: .open
            case .locked: .locked
            case .paid: .paid
            case .expired: .expired
            case .cancelled: .cancelled
            case .unknown: .unknown
            }
        self.init(
            id: view.id,
            eid: view.eid,
            phase: phase,
            amount: view.amount,
            memo: view.memo,
            payee: view.payee,
            lifetime: view.createdAt.duration(to: view.expiresAt),
            expiresAt: .now + Timestamp.now.duration(to: view.expiresAt),
            isOnAir: view.isOnAir,
            noticedAt: view.noticedAt.map { .now + Timestamp.now.duration(to: $0) },
            payLink: view.payLink,
            shares: view.contest.map { .left($0.placesLeft.value) }
                ?? view.places.map { .paid($0.paid, of: $0.places) }
        )
    }
}
