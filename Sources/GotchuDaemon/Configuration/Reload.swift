import GotchuAPI
import Logging
import ServiceProcess

/// Applies a changed configuration while the daemon runs: the lists of users, and the contents of
/// the token file.
///
/// All other settings change only with a restart, for example the server, the radio, the folders,
/// the group and the log level. An invalid configuration changes nothing. The status reports it
/// until a valid one is loaded.
struct Reload: Sendable {
    let current: DaemonConfiguration
    let readConfiguration: @Sendable () throws(ConfigurationError) -> DaemonConfiguration
    let access: AccessControl
    let tokens: TokenStore
    let status: DaemonStatus
    let logger: Logger

    func run() {
        do throws(Problem) {
            try runOrThrow()
        } catch {
            logger.error(
                "The new configuration was not taken",
                metadata: ["reason": "\(error.detail)"]
            )
        }
    }

    func runOrThrow() throws(Problem) {
        let new: DaemonConfiguration
        do throws(ConfigurationError) {
            new = try readConfiguration()
        } catch {
            status.apply(reloadProblem: error)
            throw Problem(
                .validationError,
                detail: "\(error.place): \(error.problem)",
                fix: DaemonFailure.checkCommand
            )
        }
        access.update(current.reloaded(from: new))
        tokens.reload()
        status.apply(reloadProblem: nil)
        logger.notice(
            "Configuration was reloaded",
            metadata: ["needs-restart": "\(current.needsRestart(for: new))"]
        )
    }
}
