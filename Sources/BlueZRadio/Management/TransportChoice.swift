import BlueZ
import GotchuCore
import Radio

/// The transport that is wanted.
package enum TransportPolicy: String, Equatable, Sendable {
    /// The best permitted transport; another one if it fails.
    case best
    /// The management socket only: its absence is a problem.
    case management
    /// D-Bus only.
    case dbus

    var wantsManagement: Bool { self == .best || self == .management }
}

/// The current transport, the reason for it, and the pause before the better one is retried. Reads
/// no clock.
struct TransportChoice: Sendable {
    let policy: TransportPolicy
    private(set) var transport = RadioTransport.dbus
    /// The reason why the management socket is not used although it is wanted.
    private(set) var failure: ManagementFailure?
    /// A Boolean that is true once the management socket has delivered a report. Only then is its
    /// loss a degradation.
    private(set) var hadManagement = false
    private var pause = firstPause
    /// The number of bluetoothd's reports since the socket's last one, and the time of the first.
    private var missed: (since: MonotonicTime, count: Int)?

    static let firstPause: Duration = .seconds(2)
    static let maximumPause: Duration = .seconds(300)
    /// The least number of such reports, and the least time since the first, that prove a silent
    /// socket. Fewer may be due to a delay between two queues.
    static let missedLimit = 3
    static let missedTime: Duration = .seconds(3)

    init(policy: TransportPolicy) {
        self.policy = policy
    }

    /// Records that the management socket is open and permitted.
    mutating func opened() {
        transport = .management
        failure = nil
        missed = nil
    }

    /// Records that the socket could not be opened, or is lost.
    ///
    /// - Returns: The pause before the retry; `nil` if there is none.
    mutating func failed(_ failure: ManagementFailure) -> Duration? {
        transport = .dbus
        self.failure = failure
        missed = nil
        guard failure.isRetryable else { return nil }
        defer { pause = min(pause * 2, Self.maximumPause) }
        return pause
    }

    /// Records that the management socket has delivered a report.
    mutating func heard() {
        hadManagement = true
        pause = Self.firstPause
        missed = nil
    }

    /// Records that bluetoothd has just reported a device.
    ///
    /// - Returns: True if the management socket is silent: it should have reported these devices.
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
    func add(to state: RadioState) -> RadioState {
        var state = state
        state.transport = transport
        state.transportNote = note
        state.isTransportDegraded = note != nil && hadManagement
        state.problem = state.problem ?? problem
        return state
    }
}
