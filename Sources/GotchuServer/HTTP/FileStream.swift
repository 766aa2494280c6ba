internal import NIOCore
internal import Synchronization

/// The stream of a file that is read page by page. The next page is read when the client has taken
/// the last one, so the memory used is one page.
final class FileStream: ReplyStream {
    /// Reads a page: its text, and the start of the next page, `nil` after the last one.
    ///
    /// - Parameter start: The `next` of the previous page; `nil` for the first page.
    typealias Read = @Sendable (_ start: Int64?) async throws -> (text: String, next: Int64?)

    private struct State {
        var piece: ReplyPiece?
        var next: Int64?
        /// True if no page follows the piece.
        var isLast = false
        var onPiece: (@Sendable () -> Void)?
        /// The file's place; `nil` once the last page was taken.
        var place: HeavyReads.FilePlace?
    }

    private let read: Read
    private let state: Mutex<State>

    /// - Parameters:
    ///   - place: The file's place. If another file takes it, this one ends broken.
    ///   - beginning: The text before the first page.
    init(in place: HeavyReads.FilePlace, beginning: String, pages read: @escaping Read) {
        self.read = read
        state = Mutex(State(piece: .bytes(ByteBuffer(string: beginning)), place: place))
    }

    func listen(_ onPiece: @escaping @Sendable () -> Void) {
        state.withLock { $0.onPiece = onPiece }
        onPiece()
    }

    func next() -> ReplyPiece? {
        let (piece, isLast) = state.withLock { state -> (ReplyPiece?, Bool) in
            defer { state.piece = nil }
            return (state.piece, state.isLast)
        }
        guard case .bytes(let bytes) = piece else { return piece }
        if isLast {
            state.withLock { ($0.piece, $0.place) = (.end, nil) }
        } else {
            // SAFETY: belongs to the stream, and ends with the page.
            Task { await readPage() }
            // A page may have no lines.
            if bytes.readableBytes == 0 { return nil }
        }
        return piece
    }

    private func readPage() async {
        let (start, place) = state.withLock { ($0.next, $0.place) }
        let page = try? await HeavyReads.runOnPool { [place, read] in
            try await place?.isHeld == true ? read(start) : nil
        }
        let onPiece = state.withLock { state in
            state.next = page?.next
            state.isLast = page?.next == nil
            state.piece = page.map { .bytes(ByteBuffer(string: $0.text)) } ?? .broken
            return state.onPiece
        }
        onPiece?()
    }
}
