import GotchuCore

/// A headline and the line below it.
struct Copy: Equatable, Sendable {
    /// The maximum numbers of characters. The display is read from a distance.
    static let headlineLimit = 32
    static let lineLimit = 64

    let headline: String
    let line: String

    init(_ headline: String, _ line: String) {
        self.headline = headline
        self.line = line
    }
}

/// The texts of the customer's display in one language. Every language must have all of them to
/// compile.
struct DisplayWords: Sendable {
    let isRightToLeft: Bool
    let money: MoneyFormat

    let idle: Copy
    let closed: Copy
    let preparing: Copy
    let waiting: Copy
    let near: Copy
    let confirming: Copy
    let released: Copy
    let paid: Copy
    let expired: Copy
    let cancelled: Copy
    let checking: Copy
    let unavailable: Copy
    let offline: Copy

    /// Shown after the time that is left.
    let left: String
    /// Shown after the last digits of the EID.
    let code: String
    /// Shown below the QR code of a pay link.
    let scan: String
    /// Shown instead of the line while the request is not advertised.
    let offAir: String
    /// The note shown while the payment server does not answer.
    let silent: String
    /// Shown before a tip.
    let tip: String
    /// The text for the paid shares of a bill. Placeholders: `{paid}` and `{count}`.
    let shares: String

    /// The text for the free places in a contest. Placeholder: `{left}`.
    let places: String

    func text(_ shown: DisplayRequest.Shares) -> String {
        switch shown {
        case .paid(let paid, let count):
            shares.replacing("{paid}", with: "\(paid)").replacing("{count}", with: "\(count)")
        case .left(let left): places.replacing("{left}", with: "\(left)")
        }
    }

    func copy(for state: DisplayState) -> Copy {
        switch state {
        case .idle: idle
        case .closed: closed
        case .preparing: preparing
        case .waiting: waiting
        case .near: near
        case .confirming: confirming
        case .released: released
        case .paid: paid
        case .expired: expired
        case .cancelled: cancelled
        case .checking: checking
        case .unavailable: unavailable
        case .offline: offline
        }
    }
}
