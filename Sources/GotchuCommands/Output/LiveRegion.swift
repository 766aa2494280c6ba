import CLinux
import Glibc

/// The last few lines of a terminal, redrawn in place.
struct LiveRegion {
    private let output: Output
    /// The columns of each drawn line.
    private var drawn: [Int] = []
    /// The number of continuations (SIGCONT) at the last check.
    private var continuations: UInt32
    /// A Boolean that is true while the process runs in the background (`bg`).
    private var isInBackground = false

    init(output: Output) {
        self.output = output
        continuations = clinux_continuations()
    }

    /// Replaces the last drawing. Excess lines are cut at the bottom. Draws nothing in the
    /// background.
    mutating func draw(_ lines: [String]) {
        forgetAfterStop()
        guard !isInBackground else { return }
        let limit = (output.data.size?.rows ?? 24) - 1
        var shown = lines
        if lines.count > limit {
            shown = lines.prefix(limit - 1) + ["… \(lines.count - limit + 1) more"]
        }
        var frame = Self.begin + rewind(width: output.data.size?.columns)
        // Each line is cleared before it is written. After a line as wide as the terminal, clearing
        // would erase the line's end.
        frame += shown.map { Self.clearToEndOfLine + $0 + "\n" }.joined()
        output.raw(frame + Self.clearToEndOfScreen + Self.end)
        drawn = shown.map(\.columnsWhenPainted)
    }

    /// Leaves the last drawing in place.
    mutating func finish() {
        forgetAfterStop()
        guard !drawn.isEmpty else { return }
        // If Ctrl-C ended the command, the terminal has printed ^C here.
        output.raw("\r" + Self.clearToEndOfLine)
        drawn = []
    }

    /// Removes the last drawing.
    mutating func erase() {
        forgetAfterStop()
        guard !drawn.isEmpty else { return }
        output.raw(rewind(width: output.data.size?.columns) + Self.clearToEndOfScreen)
        drawn = []
    }

    /// Forgets the drawing after a stop, because the shell has written below it.
    private mutating func forgetAfterStop() {
        let now = clinux_continuations()
        // A process that was never stopped counts as in the foreground. Under timeout(1), for
        // example, it is outside the terminal's foreground group, but may draw.
        guard now != continuations || isInBackground else { return }
        continuations = now
        drawn = []
        let group = tcgetpgrp(output.data.descriptor)
        isInBackground = group >= 0 && group != getpgrp()
    }

    /// Returns the sequence that moves to the first drawn line.
    private func rewind(width: Int?) -> String {
        let height = Self.height(of: drawn, width: width)
        return height == 0 ? "" : "\u{1B}[\(height)A\r"
    }

    /// Returns the rows that the drawn lines take. If the terminal has become narrower, it has
    /// wrapped the lines that no longer fit.
    static func height(of drawn: [Int], width: Int?) -> Int {
        drawn.reduce(0) { height, columns in
            height + (width.map { max(1, (columns + $0 - 1) / $0) } ?? 1)
        }
    }

    // ECMA-48, and DEC's private modes: 25 shows the cursor, 7 wraps long lines. Both are off
    // during a frame: a line that the terminal finds wider than we computed would wrap, and the
    // next frame would start a row too low. They are on between frames, because Ctrl-Z may give the
    // terminal to the shell.
    private static let begin = "\u{1B}[?25l\u{1B}[?7l"
    private static let end = "\u{1B}[?7h\u{1B}[?25h"
    private static let clearToEndOfLine = "\u{1B}[K"
    private static let clearToEndOfScreen = "\u{1B}[J"
}

extension Output {
    /// The longest time between two redraws: a stop or typed text may have damaged the last one.
    private static let redrawInterval = Duration.milliseconds(500)

    /// Runs `body`. Draws meanwhile if `isDrawn` is true, the output is not JSON, and the terminal
    /// can redraw.
    ///
    /// - Parameters:
    ///   - interval: The interval at which changed lines are drawn.
    ///   - isKept: True if the last drawing stays on the terminal.
    ///   - frame: Returns the lines to draw; `nil` leaves the last ones.
    func live<Success: Sendable>(
        every interval: Duration,
        isKept: Bool,
        isDrawn: Bool = true,
        _ frame: @escaping @Sendable () -> [String]?,
        during body: @escaping @Sendable () async throws -> Success
    ) async throws -> Success {
        try await withThrowingTaskGroup(of: Success?.self) { group in
            group.addTask { try await body() }
            if isLive, isDrawn {
                group.addTask {
                    try await draw(every: interval, isKept: isKept, frame)
                    return nil
                }
            }
            defer { group.cancelAll() }
            while let end = try await group.next() {
                if let end { return end }
            }
            throw CancellationError()
        }
    }

    private func draw(
        every interval: Duration,
        isKept: Bool,
        _ frame: @Sendable () -> [String]?
    ) async throws {
        var region = LiveRegion(output: self)
        heldMessages.begin()
        defer {
            if isKept { region.finish() } else { region.erase() }
            heldMessages.end { write($0, to: messages) }
        }
        var last: [String]?
        var due = ContinuousClock.now
        while true {
            let now = ContinuousClock.now
            let texts = heldMessages.take()
            if !texts.isEmpty {
                region.erase()
                texts.forEach { write($0, to: messages) }
                last = nil
            }
            if let lines = frame(), lines != last || now >= due {
                region.draw(lines)
                last = lines
                due = now + Self.redrawInterval
            }
            // Polled: ages and countdowns change without events, and a redraw for each
            // advertisement is too much. The end of `body` cancels this.
            try await Task.sleep(for: interval)
        }
    }
}

extension String {
    /// The columns of the text without its colour sequences (ECMA-48, SGR).
    fileprivate var columnsWhenPainted: Int {
        split(separator: "\u{1B}[", omittingEmptySubsequences: false).enumerated().reduce(0) {
            let text = $1.offset == 0 ? $1.element : $1.element.drop { $0 != "m" }.dropFirst()
            return $0 + String(text).columns
        }
    }
}
