import CLinux
import Glibc

/// The last few lines of a terminal, drawn over and over in place.
struct LiveRegion {
    private let output: Output
    private var height = 0
    /// How often the process had gone on after a stop when that was last looked at.
    private var continuations: UInt32
    /// Whether it goes on behind the shell's back (`bg`).
    private var isInBackground = false

    init(output: Output) {
        self.output = output
        continuations = clinux_continuations()
    }

    /// Replaces what was drawn before. Lines that do not fit are cut at the bottom.
    mutating func draw(_ lines: [String]) {
        noteStop()
        guard !isInBackground else { return }
        let limit = (output.data.size?.rows ?? 24) - 1
        var shown = lines
        if lines.count > limit {
            shown = lines.prefix(limit - 1) + ["… \(lines.count - limit + 1) more"]
        }
        var frame = Self.begin + rewind
        // Cleared first: behind a full line the cursor stands on its last column.
        frame += shown.map { Self.clearToEndOfLine + $0 + "\n" }.joined()
        output.raw(frame + Self.clearToEndOfScreen + Self.end)
        height = shown.count
    }

    /// Leaves what was drawn where it is.
    mutating func finish() {
        noteStop()
        guard height > 0 else { return }
        // The terminal has written ^C here if that is what ended it.
        output.raw("\r" + Self.clearToEndOfLine)
        height = 0
    }

    /// Takes away what was drawn.
    mutating func erase() {
        noteStop()
        guard height > 0 else { return }
        output.raw(rewind + Self.clearToEndOfScreen)
        height = 0
    }

    /// After a stop the shell has written below what was drawn: that stays where it is.
    private mutating func noteStop() {
        let now = clinux_continuations()
        // Never stopped, it may well be in another group than the terminal's, as under timeout(1).
        guard now != continuations || isInBackground else { return }
        continuations = now
        height = 0
        let group = tcgetpgrp(output.data.descriptor)
        isInBackground = group >= 0 && group != getpgrp()
    }

    private var rewind: String { height == 0 ? "" : "\u{1B}[\(height)A\r" }

    // ECMA-48, and DEC's private modes: 25 shows the cursor; 7 breaks lines at the right edge, and
    // a line that were broken would be two that the next frame does not know of. Both for the time
    // of a frame only: between two of them Ctrl-Z may hand the terminal to the shell.
    private static let begin = "\u{1B}[?25l\u{1B}[?7l"
    private static let end = "\u{1B}[?7h\u{1B}[?25h"
    private static let clearToEndOfLine = "\u{1B}[K"
    private static let clearToEndOfScreen = "\u{1B}[J"
}
