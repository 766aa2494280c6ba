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
                ? Finding.good("daemon", "gotchud \(status.version) answers")
                : Finding.doubtful(
                    "daemon",
                    "gotchud is \(status.version), gotchu-ctl is \(GotchuVersion.current).",
                    fix: invocation.restartCommand
                )
            return ([Finding.good("socket", path), version], status)
        } catch {
            let failure = CommandFailure(error)
            let diagnosis = Diagnosis(failure, invocation: invocation)
            let isThere = access(path, F_OK) == 0
            let silent = Finding.bad("daemon", diagnosis.detail, fix: diagnosis.fix)
            guard isThere else {
                return ([Finding.bad("socket", "There is none at \(path)."), silent], nil)
            }
            guard path.isSocket else {
                let other = Finding.bad(
                    "socket",
                    "What is at \(path) is not a socket.",
                    fix: diagnosis.fix
                )
                return ([other, Finding.bad("daemon", "gotchud is not running.")], nil)
            }
            return ([Finding.good("socket", path), silent], nil)
        }
    }
}
