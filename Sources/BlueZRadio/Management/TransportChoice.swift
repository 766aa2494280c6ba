import BlueZ
import GotchuCore
import Radio

/// The transport that is wanted.
package enum TransportPolicy: String, Equatable, Sendable {
    /// The best that is permitted, another one when it fails.
    case best
    /// The management socket and nothing else: its absence is a problem.
    case management
    /// D-Bus and nothing else.
    case dbus

    var wantsManagement: Bool { self == .best || self == .management }
}

/// The present transport, its reason, and the time to retry the better one: pure.
struct TransportChoice: Sendable {
    let policy: TransportPolicy
    private(set) var transport = RadioTransport.dbus
    /// The reason why it is not the management socket although that was wanted.
    private(set) var failure: ManagementFailure?
    /// A Boolean that is true once a report came from the management socket: its loss is then worth
    /// a warning, and on a machine that never had it there is none.
    private(set) var hadManagement = false
    private var pause = firstPause
    /// Devices that bluetoothd has heard and the socket has not, and the time of the first.
    private var missed: (since: MonotonicTime, count: Int)?

    static let firstPause: Duration = .seconds(2)
    static let longestPause: Duration = .seconds(300)
    /// The missed devices, and the time over which, that prove a silent socket; fewer may be a
    /// delay between two queues.
    static let missedLimit = 3
    static let missedTime: Duration = .seconds(3)

    init(policy: TransportPolicy) {
        self.policy = policy
    }

    /// The management socket is open and permitted.
    mutating func opened() {
        transport = .management
        failure = nil
        missed = nil
    }

    /// Records that the socket could not be opened, or is lost.
    ///
    /// - Returns: The pause before it is tried again; `nil` for never.
    mutating func failed(_ failure: ManagementFailure) -> Duration? {
        transport = .dbus
        self.failure = failure
        missed = nil
        guard failure.canPass else { return nil }
        defer { pause = min(pause * 2, Self.longestPause) }
        return pause
    }

    /// The management socket has delivered a report.
    mutating func heard() {
        hadManagement = true
        pause = Self.firstPause
        missed = nil
    }

    /// bluetoothd has heard a device just now.
    ///
    /// - Returns: True if the management socket must be silent: it should have reported the device.
    mutating func heardOverDBus(now: MonotonicTime) -> Bool {
        guard transport == .management else { return false }
        let new = (since: missed?.since ?? now, count: (missed?.count ?? 0) + 1)
        missed = new
        return new.count >= Self.missedLimit && now - new.since >= Self.missedTime
    }

    /// One sentence for people; `nil` if the wanted transport is used.
    var note: String? {
        guard transport == .dbus, let failure else { return nil }
        return "\(failure.reason): listening over D-Bus"
    }

    /// The problem if the required transport is not used.
    var problem: RadioFailure? {
        guard policy == .management, transport == .dbus, let failure else { return nil }
        return RadioFailure(.noManagement, underlying: failure.reason)
    }
}

extension TransportChoice {
    /// Adds the transport to a state.
    func add(to state: RadioState) -> RadioState {
        var state = state
        state.transport = transport
        state.transportNote = note
        state.isDemoted = note != nil && hadManagement
        state.problem = state.problem ?? problem
        return state
    }
}
