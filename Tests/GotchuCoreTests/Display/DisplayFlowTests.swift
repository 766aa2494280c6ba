import TestSupport
import Testing

@testable import GotchuCore

@Suite("The display's flow")
struct DisplayFlowTests {
    private typealias State = DisplayState

    @Test("Every event leads to the state in the table", arguments: DisplayState.allCases)
    func everyStateAndEvent(state: DisplayState) throws {
        // The flow never has the state `offline`: only the display's page detects it.
        guard state != .offline else { return }
        let expected = try #require(Self.table[state])
        for (stimulus, next) in zip(Stimulus.allCases, expected) {
            var shop = DisplayShop(in: state)
            #expect(shop.state == state, "the way to \(state)")
            shop.apply(stimulus)
            #expect(shop.state == next, "\(state), \(stimulus)")
        }
    }

    /// Table of the next states: for each state, the states after the stimuli, in the order of the
    /// cases of `Stimulus`.
    private static let table: [State: [State]] = [
        .idle: restingRow(.idle),
        .closed: {
            var row = restingRow(.closed)
            row[Stimulus.ready.index] = .idle
            return row
        }(),
        .preparing: {
            var row = restingRow(.preparing)
            row[Stimulus.requestFailed.index] = .unavailable
            return row
        }(),
        .waiting: requestRow(.waiting),
        .near: {
            var row = requestRow(.near)
            row[Stimulus.changedToOpen.index] = .near
            row[Stimulus.changedToLocked.index] = .near
            return row
        }(),
        .confirming: {
            var row = requestRow(.confirming)
            row[Stimulus.changedToOpen.index] = .released
            row[Stimulus.changedToLocked.index] = .confirming
            row[Stimulus.phoneNoticed.index] = .confirming
            return row
        }(),
        .released: {
            var row = requestRow(.released)
            row[Stimulus.changedToOpen.index] = .released
            row[Stimulus.changedToLocked.index] = .released
            return row
        }(),
        .paid: restingRow(.paid),
        .expired: restingRow(.expired),
        .cancelled: restingRow(.cancelled),
        .checking: {
            var row = requestRow(.checking)
            // A noticed phone does not end the check: the server has not confirmed the request.
            row[Stimulus.phoneNoticed.index] = .checking
            return row
        }(),
        .unavailable: restingRow(.unavailable),
    ]

    /// Returns the next states of a state without an open request: only a new or resumed request
    /// changes the display.
    private static func restingRow(_ state: State) -> [State] {
        [
            state, state, state, .preparing, state, .waiting, .checking, state, state, state,
            state, state, state, state, state, state,
        ]
    }

    private static func requestRow(_ state: State) -> [State] {
        [
            state, state, state, .preparing, state, .waiting, .checking, .waiting, .waiting,
            .paid, .expired, .cancelled, .checking, state, .near, state,
        ]
    }

    @Test("A final, failed or unclear state is shown for its time, and then the display is idle")
    func holds() {
        for (state, seconds) in [
            (.paid, 8), (.expired, 6), (.cancelled, 4), (.unavailable, 6), (.checking, 600),
        ] as [(State, Int)] {
            var shop = DisplayShop(in: state)
            #expect(shop.flow.nextChange(after: shop.now) == shop.now + .seconds(seconds))
            shop.wait(.seconds(seconds) - .milliseconds(1))
            #expect(shop.state == state)
            shop.wait(.milliseconds(1))
            #expect(shop.state == .idle)
        }
    }

    @Test("A phone is shown for 10 s, a lock after 400 ms, and a released lock until a phone comes")
    func openTimes() {
        var shop = DisplayShop(in: .near)
        shop.wait(.milliseconds(9_999))
        #expect(shop.state == .near)
        shop.wait(.milliseconds(1))
        #expect(shop.state == .waiting)
        shop.change(to: .locked)
        shop.wait(.milliseconds(399))
        #expect(shop.state == .waiting)
        shop.wait(.milliseconds(1))
        #expect(shop.state == .confirming)
        shop.change(to: .open)
        #expect(shop.state == .released)
        shop.wait(.milliseconds(4_999))
        #expect(shop.state == .released)
        shop.notice()
        #expect(shop.state == .near)
    }

    @Test("A payment less than 400 ms after its lock shows paid without an intermediate state")
    func fastPayment() {
        var shop = DisplayShop(in: .waiting)
        shop.change(to: .locked)
        shop.wait(.milliseconds(100))
        #expect(shop.state == .waiting)
        shop.change(to: .paid)
        #expect(shop.state == .paid)
    }

    @Test("A request without an answer shows unavailable after ten seconds, until it is opened")
    func slowAnswer() {
        var shop = DisplayShop(in: .preparing)
        shop.wait(.milliseconds(9_999))
        #expect(shop.state == .preparing)
        #expect(shop.view.amount == shop.amount)
        shop.wait(.milliseconds(1))
        #expect(shop.state == .unavailable)
        shop.wait(.seconds(1))
        shop.flow.handle(.opened(1, shop.request()), at: shop.now)
        #expect(shop.state == .waiting)
    }

    @Test("A request past its time on this machine's clock shows checking, not expired")
    func ownExpiry() {
        var shop = DisplayShop(in: .waiting)
        shop.wait(.seconds(301))
        #expect(shop.state == .waiting)
        shop.wait(.seconds(2))
        #expect(shop.state == .checking)
        shop.change(to: .expired)
        #expect(shop.state == .expired)
    }

    @Test("A resumed request shows checking until the payment server has confirmed it")
    func resumed() {
        for phase in [DisplayRequest.Phase.open, .locked] {
            var shop = DisplayShop(in: .idle)
            shop.flow.handle(.resumed(shop.request(phase)), at: shop.now)
            // The machine reports this change itself, so the server has confirmed nothing.
            shop.flow.handle(.changed(shop.request(phase, isOnAir: false)), at: shop.now)
            shop.wait(.seconds(1))
            #expect(shop.state == .checking)
            shop.flow.handle(.confirmed(shop.id), at: shop.now)
            #expect(shop.state == (phase == .open ? .waiting : .confirming))
        }
    }

    @Test(
        "An older request is shown again only after the end of the newest request was shown"
    )
    func twoRequests() {
        var shop = DisplayShop(in: .waiting)
        let first = shop.request()
        let second = shop.other(cents: 555)
        shop.open(second)
        #expect(shop.view.amount == second.amount)
        shop.flow.handle(.changed(shop.request(isOnAir: false)), at: shop.now)
        #expect(shop.view.amount == second.amount)
        shop.flow.handle(.changed(shop.other(cents: 555, .paid)), at: shop.now)
        #expect(shop.state == .paid && shop.view.amount == second.amount)
        shop.wait(.seconds(8))
        #expect(shop.state == .waiting && shop.view.amount == first.amount)
    }

    @Test("The end of a request that a newer request hides is never shown")
    func earlierCustomer() {
        var shop = DisplayShop(in: .waiting)
        let second = shop.other(cents: 555)
        shop.open(second)
        shop.change(to: .paid)
        #expect(shop.view.amount == second.amount)
        shop.flow.handle(.changed(shop.other(cents: 555, .cancelled)), at: shop.now)
        shop.wait(.seconds(4))
        #expect(shop.state == .idle && shop.view.amount == nil)

        var unclear = DisplayShop(in: .checking)
        unclear.open(second)
        unclear.flow.handle(.changed(unclear.other(cents: 555, .paid)), at: unclear.now)
        unclear.wait(.seconds(8))
        #expect(unclear.state == .idle)
        unclear.change(to: .paid)
        #expect(unclear.state == .idle)
    }

    @Test("The amount is shown from the request to its end, with the tip of a paid request")
    func amounts() {
        for state in State.allCases where ![.idle, .closed, .offline].contains(state) {
            #expect(DisplayShop(in: state).view.amount?.amount.minorUnits == 1280, "\(state)")
        }
        for state in [State.idle, .closed] { #expect(DisplayShop(in: state).view.amount == nil) }
        var shop = DisplayShop(in: .waiting)
        shop.flow.handle(.changed(shop.request(.paid, tip: 100)), at: shop.now)
        #expect(shop.view.amount?.tip == 100)
    }

    @Test("A display that is not ready shows closed after five seconds, unless a request is open")
    func closing() {
        var shop = DisplayShop(in: .idle)
        shop.apply(.unready)
        #expect(shop.flow.nextChange(after: shop.now) == shop.now + .seconds(5))
        shop.wait(.milliseconds(4_999))
        #expect(shop.state == .idle)
        shop.wait(.milliseconds(1))
        #expect(shop.state == .closed)
        shop.apply(.ready)
        #expect(shop.state == .idle)

        var open = DisplayShop(in: .waiting)
        open.apply(.unready)
        open.wait(.seconds(6))
        #expect(open.state == .waiting)
    }

    @Test("The view of an open request has its EID, countdown and problems, which end with it")
    func particulars() {
        var shop = DisplayShop(in: .waiting)
        #expect(shop.view.eid == shop.request().eid && shop.view.countdown?.total == .seconds(300))
        #expect(!shop.view.isOffAir && !shop.view.isServerUnresponsive)
        shop.flow.handle(.changed(shop.request(isOnAir: false)), at: shop.now)
        #expect(!shop.view.isOffAir)
        shop.wait(.seconds(1))
        #expect(shop.view.isOffAir && shop.view.payLink != nil)
        shop.apply(.serverSilent)
        #expect(shop.view.isServerUnresponsive)
        shop.change(to: .paid)
        #expect(
            shop.view.eid == nil && shop.view.countdown == nil && !shop.view.isServerUnresponsive
        )
        #expect(shop.view.payLink == nil && shop.view.payee == "Cafe Ltd")
    }

    @Test("The number of stored requests is limited")
    func limit() {
        var shop = DisplayShop(in: .idle)
        for attempt in 2..<500 {
            shop.flow.handle(.sessionRequested(attempt, shop.amount, memo: nil), at: shop.now)
        }
        shop.flow.handle(.sessionRequestFailed(499), at: shop.now)
        #expect(shop.state == .unavailable)
        #expect(shop.flow.requests.count == DisplayFlow.requestLimit)
    }
}
