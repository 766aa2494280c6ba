import Testing

/// The scenarios of the virtual machine. Each is a file `guest/scenarios/NAME.py`.
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
        case .air: "bluetoothd reports an advertisement at exactly the level that was set"
        case .tap: "a request is heard from afar, becomes a tap at the till, and is paid"
        case .phone: "an iPhone's advertisement is resolved, and its request is paid"
        case .ambiguous: "the payer does not choose between two tills side by side"
        case .strangers: "other devices' advertisements are counted and not trusted, and do no harm"
        case .expires: "a request that nobody pays expires, and its advertisement ends"
        case .abandons: "a payer who locks a session and leaves is not charged"
        case .crash: "a payer's daemon that is killed during a payment pays exactly once"
        case .bluetoothd: "a request is on the air again after bluetoothd was killed, and is paid"
        case .management: "a payer that listens over the management socket hears and pays"
        case .latency: "a tap is paid in time, with and without a duplicate filter"
        case .rotates: "a request changes its EID, and one of its EIDs is always on the air"
        case .shares: "more requests than advertising slots share the air, and all are heard"
        case .recovers: "a request stays open through every fault of bus, bluetoothd and adapter"
        case .hiccups: "controllers that stop answering for seconds are in use again soon after"
        case .masked: "beside another program's scan, a controller's pause causes no power cycle"
        case .quiet: "a till is paid without a scan, and a payer scans only while it must"
        case .replugged: "a till goes on after its only adapter returns under another number"
        }
    }
}
