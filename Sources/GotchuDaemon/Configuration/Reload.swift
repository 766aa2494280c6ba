import GotchuAPI
import Logging
import ServiceProcess

/// Takes a changed configuration while the daemon runs: who may do what, and the token file.
///
/// What a running payment or request stands on (server, radio, folders), what the socket was
/// opened with (its group) and how much is logged change only with a restart. A configuration that
/// is not valid changes nothing; the status says so until a valid one comes.
struct Reload: Sendable {
    let current: DaemonConfiguration
    let reread: @Sendable () throws(ConfigurationError) -> DaemonConfiguration
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
            new = try reread()
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
