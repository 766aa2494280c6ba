/// A piece of a page.
///
/// A literal is markup, and what is interpolated into it is text, which is escaped:
/// `"<b>\(name)</b>"`. Only a literal of the source can become markup, so that no text of a
/// stranger does. Attributes are written in quotes; an address that a stranger chose is not
/// interpolated into `href` or `src`, where `javascript:` would run.
package struct HTML: Equatable, Sendable, ExpressibleByStringInterpolation {
    /// The markup.
    package private(set) var source: String

    package init(stringLiteral markup: StaticString) {
        source = markup.description
    }

    package init(stringInterpolation: StringInterpolation) {
        source = stringInterpolation.source
    }

    /// A piece that is only text.
    package init(text: some StringProtocol) {
        self = "\(text)"
    }

    package static func += (left: inout HTML, right: HTML) { left.source += right.source }

    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var source: String

        package init(literalCapacity: Int, interpolationCount: Int) {
            source = ""
            source.reserveCapacity(literalCapacity + 16 * interpolationCount)
        }

        package mutating func appendLiteral(_ markup: StaticString) {
            source += markup.description
        }

        package mutating func appendInterpolation(_ text: some StringProtocol) {
            for character in text.unicodeScalars {
                switch character {
                case "&": source += "&amp;"
                case "<": source += "&lt;"
                case ">": source += "&gt;"
                case "\"": source += "&quot;"
                case "'": source += "&#39;"
                // A page has no use for it, and a browser reads it as U+FFFD.
                case "\0": break
                default: source.unicodeScalars.append(character)
                }
            }
        }

        package mutating func appendInterpolation(_ number: some BinaryInteger) {
            source += String(number)
        }

        package mutating func appendInterpolation(_ piece: HTML?) {
            source += piece?.source ?? ""
        }

        package mutating func appendInterpolation(_ pieces: [HTML]) {
            for piece in pieces { source += piece.source }
        }
    }
}
