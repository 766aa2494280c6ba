import GotchuCore
import TestSupport

/// An event that a test sends to the display's flow.
enum Stimulus: CaseIterable {
    case ready, unready, serverSilent, requestStarted, requestFailed, otherOpened, otherResumed
    case changedToOpen, changedToLocked, changedToPaid, changedToExpired, changedToCancelled
    case changedToUnknown, confirmed, phoneNoticed, otherRequestPaid

    var index: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

/// The flow of a display with a sale of $12.80, and the test's clock.
struct DisplayShop {
    var flow = DisplayFlow()
    private(set) var now = MonotonicTime(sinceStart: .seconds(1000))
    let id = SessionID.test(1)
    let amount = TippedAmount(Money(minorUnits: 1280), tip: nil)
    private let expiresAt = MonotonicTime(sinceStart: .seconds(1300))
    private var phase = DisplayRequest.Phase.open

    var view: DisplayView { flow.view(at: now) }
    var state: DisplayState { view.state }

    /// Creates a display, and sends it the events that lead to `state`.
    init(in state: DisplayState) {
        if state == .closed { return }
        flow.handle(.readinessChanged(isReady: true), at: now)
        flow.handle(.serverChanged(isAnswering: true), at: now)
        if state == .idle || state == .offline { return }
        flow.handle(.sessionRequested(1, amount, memo: "2 flat whites"), at: now)
        if state == .preparing { return }
        if state == .unavailable {
            flow.handle(.sessionRequestFailed(1), at: now)
            return
        }
        flow.handle(.opened(1, request()), at: now)
        switch state {
        case .near: notice()
        case .confirming, .released:
            change(to: .locked)
            wait(.milliseconds(400))
            if state == .released { change(to: .open) }
        case .paid: change(to: .paid)
        case .expired: change(to: .expired)
        case .cancelled: change(to: .cancelled)
        case .checking: change(to: .unknown)
        case .idle, .closed, .preparing, .waiting, .unavailable, .offline: break
        }
    }

    func request(
        _ phase: DisplayRequest.Phase = .open,
        tip: Int64? = nil,
        isOnAir: Bool = true,
        noticedAt: MonotonicTime? = nil
    ) -> DisplayRequest {
        DisplayRequest(
            id: id,
            eid: EID(literal: "8bb71b3447"),
            phase: phase,
            amount: TippedAmount(Money(minorUnits: 1280), tip: tip),
            memo: "2 flat whites",
            payee: "Cafe Ltd",
            lifetime: .seconds(300),
            expiresAt: expiresAt,
            isOnAir: isOnAir,
            noticedAt: noticedAt,
            payLink: "HTTPS://PAY.EXAMPLE/P/8BB71B3447"
        )
    }

    /// Returns the next customer's request.
    func other(cents: Int64, _ phase: DisplayRequest.Phase = .open) -> DisplayRequest {
        DisplayRequest(
            id: .test(2),
            eid: EID(literal: "0000000001"),
            phase: phase,
            amount: TippedAmount(Money(minorUnits: cents), tip: nil),
            memo: nil,
            lifetime: .seconds(300),
            expiresAt: expiresAt,
            isOnAir: true
        )
    }

    /// Creates and opens the next customer's request.
    mutating func open(_ request: DisplayRequest) {
        flow.handle(.sessionRequested(2, request.amount, memo: request.memo), at: now)
        flow.handle(.opened(2, request), at: now)
    }

    mutating func wait(_ time: Duration) { now = now + time }

    /// Reports that a phone was noticed now. The request is otherwise unchanged.
    mutating func notice() {
        flow.handle(.changed(request(phase, noticedAt: now)), at: now)
    }

    mutating func change(to phase: DisplayRequest.Phase) {
        self.phase = phase
        flow.handle(.changed(request(phase)), at: now)
    }

    mutating func apply(_ stimulus: Stimulus) {
        if stimulus == .otherOpened { apply(.requestStarted) }
        let event: DisplayFlow.Event =
            switch stimulus {
            case .ready: .readinessChanged(isReady: true)
            case .unready: .readinessChanged(isReady: false)
            case .serverSilent: .serverChanged(isAnswering: false)
            case .requestStarted: .sessionRequested(2, amount, memo: nil)
            case .requestFailed: .sessionRequestFailed(1)
            case .otherOpened: .opened(2, other(cents: 555))
            case .otherResumed: .resumed(other(cents: 555))
            case .changedToOpen: .changed(request())
            case .changedToLocked: .changed(request(.locked))
            case .changedToPaid: .changed(request(.paid))
            case .changedToExpired: .changed(request(.expired))
            case .changedToCancelled: .changed(request(.cancelled))
            case .changedToUnknown: .changed(request(.unknown))
            case .confirmed: .confirmed(id)
            case .phoneNoticed: .changed(request(phase, noticedAt: now))
            case .otherRequestPaid: .changed(other(cents: 555, .paid))
            }
        flow.handle(event, at: now)
    }
}

extension SessionID {
    static func test(_ number: Int) -> SessionID {
        guard let id = SessionID(rawValue: "0190000000000000\(number)") else {
            preconditionFailure("the id of a session")
        }
        return id
    }
}
