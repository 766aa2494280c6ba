import FoundationEssentials
import GotchuCore
import LocalAPI
import Logging
import Pages
import ServiceLifecycle

/// The customer's display: its state, its readers and its page.
struct Display: Sendable {
    let board: DisplayBoard
    let feed: DisplayFeed
    let page: DisplayPage

    init(_ settings: ScreenSettings, logger: Logger) {
        let logo = settings.logo.flatMap { Self.logo(at: $0) }
        if let path = settings.logo, logo == nil {
            logger.warning(
                "The logo is not a PNG, JPEG or SVG file of 512 KiB at most",
                metadata: ["path": "\(path)"]
            )
        }
        let page = DisplayPage(settings.appearance, logo: logo)
        let board = DisplayBoard(page)
        self.page = page
        self.board = board
        feed = DisplayFeed(onReaders: { board.wake() }, makeReply: { board.reply })
    }

    private static func logo(at path: String) -> Asset? {
        FileManager.default.contents(atPath: path).flatMap { Asset(logo: [UInt8]($0)) }
    }
}

/// Publishes the content of the display. Reports if no browser shows the display.
struct DisplayService: Service {
    /// The interval of the heartbeat, which sends the state again to each reader.
    static let heartbeat: Duration = .seconds(5)

    let display: Display
    /// A Boolean that is true if the display has an address and so should have a reader.
    let isExpected: Bool
    /// The time without a reader after which an expected display counts as missing.
    var missingLimit: Duration = .seconds(60)
    /// Called with true if an expected display has no reader, and with false once it has one again.
    let onMissing: @Sendable (Bool) -> Void

    func run() async throws {
        let (board, feed) = (display.board, display.feed)
        var published: DisplayView?
        var nextBeat = MonotonicTime.now
        var absentSince = MonotonicTime.now
        var isMissing = false
        var timer: Task<Void, Never>?
        for await _ in board.wakes.cancelOnGracefulShutdown() {
            timer?.cancel()
            let now = MonotonicTime.now
            let view = board.view(at: now)
            if view != published || now >= nextBeat {
                feed.publish()
                nextBeat = now + Self.heartbeat
            }
            published = view
            if feed.readers(of: .port) > 0 { absentSince = now }
            if isExpected, isMissing != (now - absentSince >= missingLimit) {
                isMissing.toggle()
                onMissing(isMissing)
            }
            let due = [
                board.nextChange(after: now), feed.hasReaders ? nextBeat : nil,
                isExpected && !isMissing ? absentSince + missingLimit : nil,
            ].compactMap(\.self).min()
            timer = due.map { due in
                // SAFETY: cancelled by the next element, and after the last one.
                Task {
                    // The next change is due at a time. No event reports it.
                    guard (try? await Task.sleep(for: due - .now)) != nil else { return }
                    board.wake()
                }
            }
        }
        timer?.cancel()
    }
}
