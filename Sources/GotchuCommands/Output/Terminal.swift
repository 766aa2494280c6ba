import Glibc

/// The capabilities of one standard stream. All except `size` are determined once.
struct Terminal: Sendable {
    let descriptor: CInt
    let isTerminal: Bool
    /// A Boolean that is true if lines can be redrawn.
    let canRedraw: Bool
    let hasColour: Bool
    /// A Boolean that is true if the terminal may not show characters outside ASCII.
    let isPlain: Bool

    init(descriptor: CInt) {
        self.descriptor = descriptor
        isTerminal = isatty(descriptor) == 1
        let term = Environment["TERM"]
        canRedraw = isTerminal && term != nil && term != "dumb"
        hasColour = canRedraw && Environment["NO_COLOR"] == nil
        isPlain = isTerminal && !Self.isUTF8
    }

    /// A Boolean that is true if the locale's character set is UTF-8 (locale(7)). If no locale is
    /// set, UTF-8 is assumed: new terminals use it.
    private static var isUTF8: Bool {
        guard
            let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap({ Environment[$0] }).first
        else { return true }
        return locale.lowercased().filter { $0 != "-" }.contains("utf8")
    }

    /// The current columns and rows; `nil` if the stream has none.
    var size: (columns: Int, rows: Int)? {
        var size = winsize()
        guard isTerminal, ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
            return nil
        }
        return (Int(size.ws_col), max(Int(size.ws_row), 2))
    }

    /// Returns the text in this style, if the terminal has colors.
    func paint(_ text: String, _ style: TextStyle?) -> String {
        guard let style, hasColour, !text.isEmpty else { return text }
        return "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m"
    }
}

/// The styles that emphasize text. The meaning of a text never depends on its style.
enum TextStyle: Int, Sendable {
    case bold = 1
    case dim = 2
    case red = 31
    case green = 32
    case yellow = 33
}
