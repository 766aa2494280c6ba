import TestSupport
import Testing

@testable import GotchuCore

@Suite("The display's flow")
struct DisplayFlowTests {
    private typealias State = DisplayState

    @Test("Every state goes where each event takes it", arguments: DisplayState.allCases)
    func everyStateAndEvent(state: DisplayState) throws {
        // Only a display can know that nothing reaches it.
        guard state != .offline else { return }
        let expected = try #require(Self.table[state])
        for (stimulus, next) in zip(Stimulus.allCases, expected) {
            var shop = DisplayShop(in: state)
            #expect(shop.state == state, "the way to \(state)")
            shop.apply(stimulus)
            #expect(shop.state == next, "\(state), \(stimulus)")
        }
    }

    /// By state: after each stimulus, in the order of their declaration.
    private static let table: [State: [State]] = [
        .idle: restingRow(.idle),
        .closed: {
            var row = restingRow(.closed)
            row[Stimulus.ready.index] = .idle
            return row
        }(),
        .preparing: {
            var row = restingRow(.preparing)
            row[Stimulus.askingFailed.index] = .unavailable
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
        .paid: endedRow(.paid),
        .expired: endedRow(.expired),
        .cancelled: endedRow(.cancelled),
        .checking: {
            var row = requestRow(.checking)
            // The server may still say that it goes on.
            row[Stimulus.phoneNoticed.index] = .checking
            return row
        }(),
        .unavailable: restingRow(.unavailable),
    ]

    /// A change of a request that nobody has opened, or not yet, is nothing to be shown.
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

    /// The ledger's word is final: nothing but a next request follows it.
    private static func endedRow(_ state: State) -> [State] {
        [
            state, state, state, .preparing, state, .waiting, .checking, state, state, state,
            state, state, state, state, state, state,
        ]
    }

    @Test("Each end stays for its time and not longer")
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

    @Test("A noticed phone, a lock that was given up and a short lock have their times")
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

    @Test("A payment within the lock's delay is paid without a flash")
    func fastPayment() {
        var shop = DisplayShop(in: .waiting)
        shop.change(to: .locked)
        shop.wait(.milliseconds(100))
        #expect(shop.state == .waiting)
        shop.change(to: .paid)
        #expect(shop.state == .paid)
    }

    @Test("A question that takes long is unavailable, and comes back when it is answered")
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

    @Test("Nothing is certain by this machine's clock: an expiry is being checked")
    func ownExpiry() {
        var shop = DisplayShop(in: .waiting)
        shop.wait(.seconds(301))
        #expect(shop.state == .waiting)
        shop.wait(.seconds(2))
        #expect(shop.state == .checking)
        shop.change(to: .expired)
        #expect(shop.state == .expired)
    }

    @Test("A request of before a restart is checked until the payment server has spoken")
    func resumed() {
        for phase in [DisplayRequest.Phase.open, .locked] {
            var shop = DisplayShop(in: .idle)
            shop.flow.handle(.resumed(shop.request(phase)), at: shop.now)
            // What this machine does itself is no word of the server's.
            shop.flow.handle(.changed(shop.request(phase, isOnAir: false)), at: shop.now)
            shop.wait(.seconds(1))
            #expect(shop.state == .checking)
            shop.flow.handle(.confirmed(shop.id), at: shop.now)
            #expect(shop.state == (phase == .open ? .waiting : .confirming))
        }
    }

    @Test("The newest request stays; an older one comes back once the newest has been seen")
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

    @Test("An end behind another request is never shown, nor an end before it again")
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

    @Test("The amount, with its tip, stays from the first question to the end")
    func amounts() {
        for state in State.allCases where ![.idle, .closed, .offline].contains(state) {
            #expect(DisplayShop(in: state).view.amount?.amount.minorUnits == 1280, "\(state)")
        }
        for state in [State.idle, .closed] { #expect(DisplayShop(in: state).view.amount == nil) }
        var shop = DisplayShop(in: .waiting)
        shop.flow.handle(.changed(shop.request(.paid, tip: 100)), at: shop.now)
        #expect(shop.view.amount?.tip == 100)
    }

    @Test("Payments are closed only when they have been for 5 s, and a request goes on")
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

    @Test("The view has the EID, the time left and what is wrong only while they help")
    func particulars() {
        var shop = DisplayShop(in: .waiting)
        #expect(shop.view.eid == shop.request().eid && shop.view.ending?.total == .seconds(300))
        #expect(!shop.view.isOffAir && !shop.view.isServerSilent)
        shop.flow.handle(.changed(shop.request(isOnAir: false)), at: shop.now)
        #expect(!shop.view.isOffAir)
        shop.wait(.seconds(1))
        #expect(shop.view.isOffAir && shop.view.payLink != nil)
        shop.apply(.serverSilent)
        #expect(shop.view.isServerSilent)
        shop.change(to: .paid)
        #expect(shop.view.eid == nil && shop.view.ending == nil && !shop.view.isServerSilent)
        #expect(shop.view.payLink == nil && shop.view.payee == "Cafe Ltd")
    }

    @Test("Requests without end do not fill the memory")
    func limit() {
        var shop = DisplayShop(in: .idle)
        for attempt in 2..<500 {
            shop.flow.handle(.asking(attempt, shop.amount, memo: nil), at: shop.now)
        }
        shop.flow.handle(.askingFailed(499), at: shop.now)
        #expect(shop.state == .unavailable)
        #expect(shop.flow.requests.count == DisplayFlow.requestLimit)
    }
}
