package import BlueZ
import Glibc
import GotchuCore
import Logging
import Radio

extension BlueZRadio {
    /// Reads the kernel's counts of an adapter, given the adapter's kernel index.
    package typealias TrafficReader =
        @Sendable (UInt16) throws(KernelAdapter.Errno) -> ControllerTraffic

    /// Reads the controller's counts periodically, as long as the kernel provides them.
    func watchController() async {
        while !Task.isCancelled, readTraffic != nil {
            await pause(for: planner.pollInterval)
            guard !Task.isCancelled else { return }
            pollController()
        }
    }

    func pollController() {
        guard let readTraffic, planner.watchesController, let index = planner.adapter?.index else {
            return
        }
        do throws(KernelAdapter.Errno) {
            let traffic = try readTraffic(index)
            let now = MonotonicTime.now
            let reason = planner.ladder.reason
            let deadlines = (planner.controller.nextDeadline, planner.scan.lossDue)
            let change = planner.readCounts(traffic, now: now)
            if change != nil || planner.ladder.reason != reason {
                changed()
            } else if (planner.controller.nextDeadline, planner.scan.lossDue) != deadlines {
                wake()
            }
        } catch {
            // Other errors are temporary: the adapter was just removed, or no descriptor is free.
            guard [EAFNOSUPPORT, EPROTONOSUPPORT, EPERM, EACCES].contains(error.number) else {
                return
            }
            self.readTraffic = nil
            planner.controllerHidden()
            logger.debug(
                "the kernel does not tell whether the controller answers",
                metadata: ["errno": "\(error.number)"]
            )
        }
    }
}
