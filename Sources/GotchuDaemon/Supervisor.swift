import GotchuAPI
import ServiceLifecycle
import ServiceProcess
import UnixSignals

/// Serves the service manager: status, watchdog, reload on SIGHUP.
struct Supervisor: Service {
    let notifier: SystemdNotifier
    let status: DaemonStatus
    let presences: PresenceService
    let reload: Reload
    let hangups: UnixSignalsSequence

    func run() async throws {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in hangups.cancelOnGracefulShutdown() {
                    notifier.reloading()
                    reload.run()
                    notifier.ready(status: status.reply.summary)
                }
            }
            if let interval = SystemdNotifier.watchdogInterval {
                group.addTask { await sendHeartbeats(every: interval / 2) }
            }
            try? await gracefulShutdown()
            notifier.stopping()
            group.cancelAll()
        }
    }

    /// Sends heartbeats. Each proves that the radio's thread still takes turns, not only that a
    /// timer runs.
    private func sendHeartbeats(every interval: Duration) async {
        while !Task.isCancelled {
            await presences.waitForTurn()
            notifier.watchdog()
            notifier.status(status.reply.summary)
            // systemd expects the heartbeat at fixed intervals, whatever happens here.
            try? await Task.sleep(for: interval)
        }
    }
}
