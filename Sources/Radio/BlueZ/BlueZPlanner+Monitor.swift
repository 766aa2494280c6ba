import BlueZ
import GotchuCore

extension BlueZPlanner {
    /// The kernel is busy with another scan, or with one that it waits to stop, and a monitor hears
    /// meanwhile.
    var isMonitorAlone: Bool {
        guard monitor.hearsAlone, !controller.isMute else { return false }
        return isKernelStuck || scanFailure?.code == .scanBusy
    }

    /// Whether a monitor beside discovery is there; `nil` where there cannot be one.
    var hasMonitor: Bool? {
        usesMonitor && adapter?.canMonitor == true ? monitor.isActive : nil
    }

    /// A monitor, before the scan is started: what the controller is asked for with that scan
    /// depends on whether there is one.
    mutating func nextMonitoring(now: MonotonicTime) -> Action? {
        guard usesMonitor, adapter?.canMonitor == true, monitor.isDue(now: now) else { return nil }
        monitor.starting()
        return .startMonitor
    }

    /// The kernel has accepted the monitor.
    mutating func monitorActivated() {
        monitor.activated()
    }

    /// The controller matches for the monitor that is being registered.
    mutating func monitorOffloaded() {
        monitor.offloaded()
    }

    /// bluetoothd has let go of the monitor.
    mutating func monitorReleased(now: MonotonicTime) {
        monitor.released(now: now)
    }
}
