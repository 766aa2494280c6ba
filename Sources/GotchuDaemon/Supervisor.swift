import GotchuAPI
import ServiceLifecycle
import ServiceProcess
import UnixSignals

/// Communicates with the service manager: status, watchdog, and reload on SIGHUP.
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

    /// Sends heartbeats. Each one is sent only after the radio's thread has run a job.
    private func sendHeartbeats(every interval: Duration) async {
        while !Task.isCancelled {
            await presences.waitForTurn()
            notifier.watchdog()
            notifier.status(status.reply.summary)
            // systemd expects the heartbeat at fixed intervals.
            try? await Task.sleep(for: interval)
        }
    }
}
