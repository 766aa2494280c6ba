import BlueZ
import Glibc
import GotchuCore
import Logging
import Radio

/// The second source of sightings: reports that the kernel delivers while bluetoothd scans.
///
/// Only listens, except in `endStaleScan(of:)`. bluetoothd controls the scan, its filter and the
/// advertisements, over D-Bus. If two programs start and stop discovery through the kernel, they
/// disturb each other, and bluetoothd's own commands fail (`Busy`, `Rejected`).
extension BlueZRadio {
    /// Starts listening to the management socket, if it is wanted, as a task of the group.
    ///
    /// Returns once it is known whether the socket can be used. The D-Bus signals to request depend
    /// on that.
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
                let pause = await degradeTransport(after: failure)
                decided()
                guard let pause else { break }
                // No event signals that listening is possible again.
                await self.pause(for: pause)
            }
            if !planner.scan.isWanted {
                for await _ in wanted.stream where planner.scan.isWanted { break }
            }
        }
        decided()
    }

    /// Listens until it fails, is no longer wanted, or the task is cancelled.
    ///
    /// - Returns: The failure; `nil` if listening is not wanted or the task is cancelled.
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
                    restoreTransport()
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

    private func restoreTransport() {
        let isNew = choice.transport != .management
        choice.opened()
        if isNew { logger.info("listening over the management socket") }
        changed()
    }

    private func degradeTransport(after failure: ManagementFailure) async -> Duration? {
        let (wasListening, before) = (choice.transport == .management, choice.note)
        let pause = choice.failed(failure)
        // Retries continue while the daemon runs. A repeated reason is logged at debug level.
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

    /// Asks the kernel to end the scan of a bluetoothd that has died. Otherwise the kernel
    /// continues that scan for up to 10.24 s and refuses all others meanwhile. Nothing on D-Bus
    /// ends it sooner.
    ///
    /// Done at most once for each new bluetoothd: when a scan is refused within `busyLimit` of its
    /// start. During that time it may also end a scan that another program runs without bluetoothd.
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
        let (recognition, isNew) = filter.recognise(report)
        publish(recognition, isNew: isNew, rssi: report.rssi, adapter, now: .now)
    }
}
