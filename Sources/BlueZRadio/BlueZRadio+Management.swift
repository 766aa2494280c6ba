import BlueZ
import Glibc
import GotchuCore
import Logging
import Radio

/// The second way for sightings to come in: reports that the kernel hears while bluetoothd scans.
///
/// Only listening. The scan, its filter and the advertisements stay bluetoothd's, over D-Bus: two
/// programs that start and stop discovery through the kernel take it from one another, and
/// bluetoothd's own commands fail (`Busy`, `Rejected`) when the kernel is not as it left it.
extension BlueZRadio {
    /// Opens the management socket, if it is wanted and permitted, and keeps listening to it.
    ///
    /// Returns when it is known whether it can be, so that the bus is asked for the right signals.
    func addManagement(to group: inout DiscardingTaskGroup) async {
        guard choice.policy.wantsManagement else { return }
        let (verdicts, verdict) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        group.addTask { await self.keepListening(decided: { verdict.yield() }) }
        for await _ in verdicts { break }
    }

    private func keepListening(decided: @Sendable () -> Void) async {
        while !Task.isCancelled {
            if let failure = await listenOnce(decided: decided) {
                guard !Task.isCancelled else { break }
                let pause = await demote(failure)
                decided()
                guard let pause else { break }
                // Nothing tells that the kernel would let us listen again.
                await self.pause(for: pause)
            }
            if !planner.scan.isWanted {
                for await _ in wanted.stream where planner.scan.isWanted { break }
            }
        }
        decided()
    }

    /// Listens until it fails, is not wanted, or the task is cancelled.
    ///
    /// - Returns: `nil` if it may listen, and is not to.
    private func listenOnce(decided: @Sendable () -> Void) async -> ManagementFailure? {
        let (notices, notice) = AsyncStream<ManagementListener.Notice>.makeStream(
            bufferingPolicy: .bufferingNewest(64)
        )
        do throws(ManagementFailure) {
            let listener = ManagementListener(
                try openManagement(),
                on: thread,
                serviceUUID: serviceUUID,
                // The listener reads on the radio's thread.
                onReport: { [weak self] report in self?.assumeIsolated { $0.receive(report) } },
                onNotice: { notice.yield($0) }
            )
            self.listener = listener
            defer {
                (self.listener, closeManagement) = (nil, nil)
                listener.stop()
            }
            try listener.start()
            for await arrived in notices {
                switch arrived {
                case .permitted:
                    promote()
                    decided()
                    guard planner.scan.isWanted else { return nil }
                    closeManagement = { notice.finish() }
                case .overflowed(let count):
                    logger.warning(
                        "the kernel dropped reports that were not fetched in time",
                        metadata: ["count": "\(count)"]
                    )
                case .malformed(let count):
                    logger.debug(
                        "frames of the management socket were not understood",
                        metadata: ["count": "\(count)"]
                    )
                case .ended(let failure): return failure
                }
            }
            return nil
        } catch {
            return error
        }
    }

    private func promote() {
        let isNews = choice.transport != .management
        choice.opened()
        if isNews { logger.info("listening over the management socket") }
        changed()
    }

    private func demote(_ failure: ManagementFailure) async -> Duration? {
        let (wasListening, before) = (choice.transport == .management, choice.note)
        let pause = choice.failed(failure)
        // It is tried again for as long as the daemon runs; the same reason is no news.
        logger.log(
            level: wasListening ? .warning : choice.note == before ? .debug : .info,
            "listening over D-Bus",
            metadata: [
                "reason": "\(failure.reason)",
                "retry": "\(pause.map { "in \($0.components.seconds) s" } ?? "never")",
            ]
        )
        changed()
        await receiveDevicesAgain()
        return pause
    }

    /// Has the kernel end the scan of a bluetoothd that has died. It goes on with it for up to
    /// 10.24 s and refuses every other meanwhile; nothing on D-Bus ends it sooner.
    ///
    /// Once for each new bluetoothd, when that has refused a scan: then it is nobody's scan. One
    /// that another program runs past bluetoothd could be hit, in the first seconds alone.
    func endStaleScan(of adapter: AdapterState) {
        guard choice.policy.wantsManagement, let limit = staleScanLimit, MonotonicTime.now < limit,
            let index = adapter.index
        else { return }
        staleScanLimit = nil
        do throws(ManagementFailure) {
            try openManagement().stopDiscovery(adapter: index)
            logger.info("the kernel was told to end the scan of the bluetoothd before")
        } catch {
            logger.debug(
                "the kernel could not be told to end a scan",
                metadata: ["reason": "\(error.reason)"]
            )
        }
    }

    private func receive(_ report: ManagementReport) {
        guard planner.scan.isWanted, let adapter = planner.adapter, report.adapter == adapter.index
        else { return }
        choice.heard()
        let (recognition, isNews) = filter.recognise(report)
        receive(recognition, isNews: isNews, rssi: report.rssi, adapter, now: .now)
    }
}
