import GotchuCore
import LedgerTestSupport
import NIOCore
import Payments
import Synchronization
import TestSupport
import Testing

@testable import GotchuServer
@testable import Ledger

@Suite("A wallet's stream")
final class WalletStreamTests: Sendable {
    private let feed = ChangeFeed()
    private let time = Mutex(Timestamp(milliseconds: 0))

    private var now: Timestamp { time.withLock(\.self) }

    private func wallet(_ number: Int64) -> AccountHistory {
        let key = Cast.account(0)
        let entry = Entry(
            account: key,
            number: number,
            transfer: Transfer.Key(RecordID(Cast.sessions[0]), "paid"),
            kind: "PAYMENT",
            at: now,
            amount: 1,
            balance: number,
            earned: number
        )
        let account = Account(
            key,
            balance: number,
            earned: number,
            entryCount: number,
            changedAt: now
        )
        return AccountHistory(account: account, entries: [(entry: entry, record: nil)])
    }

    private func stream(for lifetime: Duration = .seconds(600)) throws -> WalletStream {
        WalletStream(
            watch: try feed.watch(Cast.account(0), by: "owner"),
            access: access(for: lifetime),
            version: 1
        )
    }

    private func access(for lifetime: Duration) -> TokenAccess {
        TokenAccess(
            login: Login(user: Cast.users[0]),
            endsAt: now.advanced(by: lifetime),
            clock: { self.now }
        )
    }

    private func text(_ piece: ReplyPiece?) -> String? {
        switch piece {
        case .bytes(let bytes): String(buffer: bytes)
        case .end: "end"
        case .broken: "broken"
        case nil: nil
        }
    }

    @Test("A wallet's slow reader gets only the newest state, and no state twice")
    func newest() throws {
        var stream = try stream()
        for number: Int64 in [1, 2, 4, 3] { feed.publish(wallet(number)) }
        let event = try #require(text(stream.next()))
        #expect(event.hasPrefix("event: wallet.changed\ndata: {\"balance_cents\":4,"))
        #expect(text(stream.next()) == nil)
        feed.publish(wallet(4))
        #expect(text(stream.next()) == nil)
    }

    @Test("A wallet's stream sends keep-alives, and ends when its token has expired")
    func tokenEnd() throws {
        var (told, silent) = (try stream(for: .seconds(60)), try stream(for: .seconds(60)))
        for _ in 0..<15 { feed.tick() }
        #expect(text(told.next()) == ":\n\n" && text(silent.next()) == ":\n\n")
        time.withLock { $0 = $0.advanced(by: .seconds(60)) }
        feed.publish(wallet(2))
        #expect(text(told.next()) == "end")
        #expect(text(silent.next()) == "end")
    }

    @Test("A session's stream also ends when its token has expired")
    func sessionEnd() throws {
        var stream = SessionStream(
            try feed.watch(RecordID(Cast.sessions[0]), by: "payee"),
            access: access(for: .seconds(60)),
            session: Cast.session(version: 1),
            desk: nil
        )
        feed.publish(Cast.record(version: 2))
        #expect(try #require(text(stream.next())).hasPrefix("id: 2\n"))
        time.withLock { $0 = $0.advanced(by: .seconds(60)) }
        feed.publish(Cast.record(version: 3))
        #expect(text(stream.next()) == "end")
    }
}
