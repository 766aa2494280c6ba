import BlueZ
import GotchuCore

/// Which transport is listened to, why, and when the better one is tried again.
///
/// Pure: what happened and the time go in.
struct TransportChoice: Sendable {
    let policy: TransportPolicy
    private(set) var transport = RadioTransport.dbus
    /// Why it is not the management socket although that was wanted.
    private(set) var failure: ManagementFailure?
    /// Whether reports came from the management socket at some time: to lose it then is news to an
    /// operator, never to have had it is how it was installed.
    private(set) var hadManagement = false
    private var pause = firstPause
    /// Since when bluetoothd has heard devices that the socket did not tell of, and how many.
    private var witnesses: (since: MonotonicTime, count: Int)?

    static let firstPause: Duration = .seconds(2)
    static let longestPause: Duration = .seconds(300)
    /// So many devices over so long a time are no coincidence of two queues.
    static let witnessLimit = 3
    static let witnessTime: Duration = .seconds(3)

    init(policy: TransportPolicy) {
        self.policy = policy
    }

    /// The management socket is open and permitted.
    mutating func opened() {
        transport = .management
        failure = nil
        witnesses = nil
    }

    /// It could not be opened, or is lost.
    ///
    /// - Returns: after how long to try again; `nil` for never.
    mutating func failed(_ failure: ManagementFailure) -> Duration? {
        transport = .dbus
        self.failure = failure
        witnesses = nil
        guard failure.canPass else { return nil }
        defer { pause = min(pause * 2, Self.longestPause) }
        return pause
    }

    /// The management socket has delivered a report.
    mutating func heard() {
        hadManagement = true
        pause = Self.firstPause
        witnesses = nil
    }

    /// bluetoothd has announced a device that it heard just now.
    ///
    /// - Returns: whether the management socket must be deaf.
    mutating func witnessed(now: MonotonicTime) -> Bool {
        guard transport == .management else { return false }
        let since = witnesses?.since ?? now
        let count = (witnesses?.count ?? 0) + 1
        witnesses = (since, count)
        return count >= Self.witnessLimit && now - since >= Self.witnessTime
    }

    /// One sentence for people; `nil` when all is as it was wanted.
    var note: String? {
        guard transport == .dbus, let failure else { return nil }
        return "\(failure.reason): listening over D-Bus"
    }

    /// Why only a monitor is heard.
    static let monitorNote =
        "the kernel is busy with another scan: listening through an advertisement monitor"

    /// Whether a monitor beside discovery is of use.
    var wantsMonitor: Bool { policy == .dbus || policy == .best && transport == .dbus }

    /// What is wrong, if it is.
    var problem: RadioFailure? {
        guard policy == .management, transport == .dbus, let failure else { return nil }
        return RadioFailure(.noManagement, underlying: failure.reason)
    }
}
