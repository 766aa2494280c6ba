import Glibc
import GotchuAPI
import LocalAPI

/// Checks that gotchud answers on its socket.
struct DaemonCheck {
    let invocation: Invocation

    func run() async -> (findings: [Finding], status: StatusReply?) {
        let path = invocation.socketPath
        do {
            let status = try await LocalClient(socketPath: path).status()
            let version =
                status.version == GotchuVersion.current
                ? Finding("daemon", .good, "gotchud \(status.version) answers")
                : Finding(
                    "daemon",
                    .doubtful,
                    "gotchud is \(status.version), gotchu-ctl is \(GotchuVersion.current).",
                    fix: invocation.restartCommand
                )
            return ([Finding("socket", .good, path), version], status)
        } catch {
            let failure = CommandFailure(error)
            let diagnosis = Diagnosis(failure, invocation: invocation)
            let isThere = access(path, F_OK) == 0
            let silent = Finding("daemon", .bad, diagnosis.detail, fix: diagnosis.fix)
            guard isThere else {
                return ([Finding("socket", .bad, "There is none at \(path)."), silent], nil)
            }
            guard path.isSocket else {
                let other = Finding(
                    "socket",
                    .bad,
                    "What is at \(path) is not a socket.",
                    fix: diagnosis.fix
                )
                return ([other, Finding("daemon", .bad, "gotchud is not running.")], nil)
            }
            return ([Finding("socket", .good, path), silent], nil)
        }
    }
}
