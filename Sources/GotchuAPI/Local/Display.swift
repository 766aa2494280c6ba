package import GotchuCore

/// The whole state of the customer's display. The answer to `GET /v1/display`, and each line of
/// `GET /v1/display/events`.
///
/// It contains no secret of the payer, the shop or an earlier customer.
package struct DisplayReply: Codable, Equatable, Sendable {
    /// The version of the page that shows this. If it differs from its own, a page reloads.
    package var build: String
    package var state: DisplayState
    /// The language of the texts, and its writing direction.
    package var language: Language
    package var isRightToLeft: Bool
    package var shop: String?
    /// The amount, formatted for the language: `12,80 €`.
    package var amount: String?
    package var amountCents: Int64?
    package var currency: Currency?
    /// The tip that the payer gave, with a label.
    package var tip: String?
    package var memo: String?
    package var headline: String
    package var line: String?
    /// The same texts in the shop's second language.
    package var second: Second?
    /// A warning for the customer.
    package var note: String?
    /// The last four characters of the EID, which the payer's phone shows too.
    package var code: Labelled?
    /// The time left to pay.
    package var left: TimeLeft?
    /// A link by which a phone without Bluetooth can pay.
    package var payLink: PayLink?

    package init(
        build: String,
        state: DisplayState,
        language: Language,
        isRightToLeft: Bool,
        headline: String
    ) {
        self.build = build
        self.state = state
        self.language = language
        self.isRightToLeft = isRightToLeft
        self.headline = headline
    }

    package struct Second: Codable, Equatable, Sendable {
        package var language: Language
        package var text: String

        package init(language: Language, text: String) {
            self.language = language
            self.text = text
        }
    }

    /// A short text with a label.
    package struct Labelled: Codable, Equatable, Sendable {
        package var text: String
        package var label: String

        package init(text: String, label: String) {
            self.text = text
            self.label = label
        }
    }

    package struct TimeLeft: Codable, Equatable, Sendable {
        package var milliseconds: Int
        package var totalMilliseconds: Int
        /// The label of the countdown.
        package var label: String

        package init(milliseconds: Int, totalMilliseconds: Int, label: String) {
            self.milliseconds = milliseconds
            self.totalMilliseconds = totalMilliseconds
            self.label = label
        }

        enum CodingKeys: String, CodingKey {
            case label
            case milliseconds = "ms"
            case totalMilliseconds = "total_ms"
        }
    }

    package struct PayLink: Codable, Equatable, Sendable {
        package var url: String
        package var qr: QR
        /// The text below the QR code.
        package var label: String

        package init(url: String, qr: QR, label: String) {
            self.url = url
            self.qr = qr
            self.label = label
        }

        /// A QR code without its quiet zone.
        package struct QR: Codable, Equatable, Sendable {
            /// The number of modules per side.
            package var side: Int
            /// The dark modules as the data of an SVG path, one unit per module.
            package var path: String

            package init(side: Int, path: String) {
                self.side = side
                self.path = path
            }
        }

        enum CodingKeys: String, CodingKey {
            case url = "pay_url"
            case qr, label
        }
    }

    enum CodingKeys: String, CodingKey {
        case build, state, language, shop, amount, currency, tip, memo, headline, line, second
        case note, code, left
        case isRightToLeft = "is_right_to_left"
        case amountCents = "amount_cents"
        case payLink = "pay_link"
    }
}
