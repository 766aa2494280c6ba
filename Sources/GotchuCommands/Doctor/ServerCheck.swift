import GotchuAPI
import ServiceProcess

/// Reports the payment server's state as the daemon sees it, because payments use the daemon's
/// connection. If the daemon does not answer, reports the result of a probe.
enum ServerCheck {
    static func findings(_ status: StatusReply?, probe: ServerProbeReply?) -> [Finding] {
        guard let server = status?.server else {
            let login = Finding.skipped("login", "cannot be said while gotchud does not answer")
            return [probe.map(finding) ?? Finding.skipped("server", login.text), login]
        }
        let reach =
            switch server.isReachable {
            case nil: Finding.skipped("server", "\(server.url) was not asked yet")
            case true?:
                Finding.good(
                    "server",
                    server.latencyMilliseconds.map { "\(server.url) answers in \($0) ms" }
                        ?? "\(server.url) answers"
                )
            case false?: bad(status?.health.first(where: \.isAboutServer), server.url)
            }
        let problem = status?.health.first { ["not-logged-in", "login-refused"].contains($0.code) }
        let login =
            server.isLoggedIn
            ? Finding.good("login", "logged in")
            : Finding.bad(
                "login",
                problem?.text.printable ?? "Nobody is logged in.",
                fix: problem?.fix.printable ?? "gotchu-ctl login"
            )
        return [reach, login]
    }

    private static func bad(_ item: HealthItem?, _ url: String) -> Finding {
        Finding.bad(
            "server",
            item?.text.printable ?? "\(url.printable) cannot be reached.",
            fix: item?.fix.printable ?? "curl -sv \(url.shellQuoted)/readyz"
        )
    }

    private static func finding(_ probe: ServerProbeReply) -> Finding {
        guard probe.isReachable else { return bad(probe.problem, probe.url) }
        return .good("server", "\(probe.url) answers in \(probe.latencyMilliseconds ?? 0) ms")
    }
}

extension HealthItem {
    var isAboutServer: Bool { severity == .error && code.hasPrefix("server-") }
}
