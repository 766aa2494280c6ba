/// A fragment of HTML.
///
/// A literal is markup. Values interpolated into it are text and are escaped: `"<b>\(name)</b>"`.
/// Only a literal in the source code can become markup, so untrusted text cannot.
///
/// Attributes must be written in quotes. An untrusted address must not be interpolated into `href`
/// or `src`, where `javascript:` would run.
package struct HTML: Equatable, Sendable, ExpressibleByStringInterpolation {
    package private(set) var source: String

    package init(stringLiteral markup: StaticString) {
        source = markup.description
    }

    package init(stringInterpolation: StringInterpolation) {
        source = stringInterpolation.source
    }

    /// Creates a fragment of plain text.
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
                // Pages do not need NUL, and browsers read it as U+FFFD.
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
