import GotchuAPI
import GotchuCore
import Logging
import Pages
import TestSupport
import Testing

@testable import GotchuDaemon
@testable import LocalAPI

@Suite("The display's service")
struct DisplayServiceTests {
    private static let page: DisplayPage = {
        var looks = DisplayPage.Appearance()
        looks.shop = "Corner Cafe"
        return DisplayPage(looks, logo: nil)
    }()

    @Test(
        "An expected display is reported missing until a browser subscribes, another display never"
    )
    func missing() async throws {
        for isExpected in [true, false] {
            let display = Display(ScreenSettings(), logger: Logger(label: "test"))
            let (news, continuation) = AsyncStream.makeStream(of: Bool.self)
            let service = DisplayService(
                display: display,
                isExpected: isExpected,
                missingLimit: .nanoseconds(1)
            ) { continuation.yield($0) }
            // SAFETY: ended below.
            let run = Task { try await service.run() }
            // A subscriber on the socket does not count as a display. When the service publishes a
            // change, its work for the change before is done.
            var lines = try #require(display.feed.subscribe(from: .socket)).wakes
                .makeAsyncIterator()
            for attempt in 1...3 {
                let new = NewRequest(amountCents: Int64(attempt))
                display.board.apply(.sessionRequested(attempt, new))
                _ = await lines.next()
            }
            var missing = news.makeAsyncIterator()
            if isExpected {
                let before = await missing.next()
                let browser = try #require(display.feed.subscribe(from: .port))
                let after = await missing.next()
                #expect(before == true && after == false)
                browser.end()
            }
            run.cancel()
            try await run.value
            continuation.finish()
            let more = isExpected ? nil : await missing.next()
            #expect(more == nil)
        }
    }

    @Test("Each step of a request changes the display's state, texts and QR code")
    func steps() throws {
        let board = DisplayBoard(Self.page)
        #expect(board.reply.state == .closed && board.reply.build == Self.page.build)
        board.apply(.sessionRequested(1, NewRequest(amountCents: 1280, memo: "Tea")))
        #expect(board.reply.state == .preparing && board.reply.amount == "$12.80")
        #expect(board.reply.shop == "Corner Cafe")
        var view = RequestView(
            id: try #require(SessionID(rawValue: "s")),
            eid: EID(literal: "8bb71b3447"),
            state: .advertising,
            amountCents: 1280,
            currency: .usd,
            memo: "Tea",
            createdAt: .now,
            expiresAt: .now.advanced(by: .seconds(300)),
            paidAt: nil,
            payee: "Cafe Ltd",
            payLink: "HTTPS://PAY.EXAMPLE/P/8BB71B3447",
            isOnAir: true,
            reason: ""
        )
        board.apply(.opened(1, view))
        let waiting = board.reply
        #expect(waiting.state == .waiting && waiting.code?.text == "3447")
        #expect(waiting.shop == "Cafe Ltd" && waiting.payLink?.qr.side == 25)
        #expect((299_000...300_000).contains(waiting.left?.milliseconds ?? 0))
        view.noticedAt = .now
        board.apply(.changed(view))
        #expect(board.reply.state == .near && board.reply.payLink == nil)
        view.state = .paid
        view.tipCents = 100
        board.apply(.changed(view))
        let paid = board.reply
        #expect(paid.state == .paid && paid.tip == "Tip $1.00" && paid.code == nil)
        #expect(paid.shop == "Cafe Ltd")
    }

    @Test("A resumed request that expired long ago is not shown")
    func oldRequests() throws {
        let board = DisplayBoard(Self.page)
        let long = Timestamp.now.advanced(by: .seconds(-3600))
        let view = RequestView(
            id: try #require(SessionID(rawValue: "s")),
            eid: EID(literal: "8bb71b3447"),
            state: .unknown,
            amountCents: 1280,
            currency: .usd,
            memo: nil,
            createdAt: long,
            expiresAt: long.advanced(by: .seconds(300)),
            paidAt: nil,
            isOnAir: false,
            reason: ""
        )
        board.apply(.resumed(view))
        #expect(board.reply.state == .closed)
    }
}
