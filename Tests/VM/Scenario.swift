import Testing

/// The scenarios of the virtual machine: each is a file `guest/scenarios/NAME.py`.
enum Scenario: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case air
    case tap
    case phone
    case ambiguous
    case strangers
    case expires
    case abandons
    case crash
    case bluetoothd
    case latency
    case management
    case rotates
    case shares
    case recovers
    case hiccups
    case masked
    case replugged
    case quiet

    var testDescription: String { "\(rawValue): \(story)" }

    private var story: String {
        switch self {
        case .air: "an advert is heard at exactly the level that was set"
        case .tap: "a request is heard from afar, held against the till, and paid"
        case .phone: "an iPhone's advert is resolved and paid"
        case .ambiguous: "between two tills side by side nothing is picked"
        case .strangers: "22 kinds of strangers are counted, never trusted, never fatal"
        case .expires: "a request that nobody pays ends, and the air falls silent"
        case .abandons: "a payer who locks and leaves is charged nothing"
        case .crash: "a payer's daemon that is killed half-way charges exactly once"
        case .bluetoothd: "bluetoothd dies during a request, which is on the air again"
        case .management: "a payer that listens to the kernel itself hears and pays as over D-Bus"
        case .latency: "with and without a duplicate filter, tap distance is a verdict in time"
        case .rotates: "a request's EID changes, and the air is never without one of them"
        case .shares: "more requests than places share the air fairly, and all are heard"
        case .recovers: "a request stays open through every failure of bus, bluetoothd and adapter"
        case .hiccups: "controllers stop answering for seconds, and all is well again soon after"
        case .masked: "beside another program's scan a controller's pause is not taken for its end"
        case .quiet: "a till does not scan and is paid all the same, a payer scans while it has to"
        case .replugged: "a till's only adapter is pulled out and comes back under another number"
        }
    }
}
