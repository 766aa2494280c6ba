import GotchuCore

/// How far our advertisement monitor has come at bluetoothd: pure.
///
/// It is an extra: one that is refused is done without, and nothing waits for it.
struct MonitorPlan: Sendable {
    enum Stage: Equatable, Sendable {
        /// bluetoothd has none of ours.
        case off
        case registering
        /// bluetoothd has read it, and has not yet said that the kernel has accepted it.
        case registered
        /// It matches what is heard.
        case active
        /// bluetoothd would not have it. It is not asked again before something changes.
        case refused
    }

    /// After bluetoothd has let go of one, before the next is tried; doubles each time.
    static let firstPause: Duration = .seconds(5)
    static let longestPause: Duration = .seconds(300)

    private(set) var stage = Stage.off
    private(set) var due: MonotonicTime?
    private var pause = firstPause
    /// bluetoothd has answered, so that it is known who matches.
    private var isAnswered = false
    private var isOffloaded = false

    var isActive: Bool { stage == .active }

    /// Whether it is told of each advertisement also while nobody discovers.
    ///
    /// A controller that matches itself tells of a device once, and the kernel and bluetoothd drop
    /// all that comes after that (the kernel's `mgmt_adv_monitor_device_found` while it is busy
    /// with another scan, BlueZ's `btd_adapter_update_found_device`).
    var hearsAlone: Bool { isActive && isAnswered && !isOffloaded }

    func isDue(now: MonotonicTime) -> Bool { stage == .off && due.map { $0 <= now } ?? true }

    mutating func starting() {
        stage = .registering
        due = nil
        isAnswered = false
        isOffloaded = false
    }

    /// The controller matches, and not bluetoothd.
    mutating func offloaded() {
        isOffloaded = true
    }

    /// bluetoothd's answer. What it says of the monitor itself may come before that, and holds.
    mutating func finished(_ result: Result<Void, RadioFailure>) {
        isAnswered = true
        guard stage == .registering else { return }
        if case .success = result { stage = .registered } else { stage = .refused }
    }

    mutating func activated() {
        if stage == .registering || stage == .registered { stage = .active }
    }

    mutating func released(now: MonotonicTime) {
        stage = .off
        due = now + pause
        pause = min(pause * 2, Self.longestPause)
    }
}
