import GotchuAPI

/// What the daemon says about the payment server: it is the daemon's way to it that matters.
enum ServerCheck {
    static func findings(_ status: StatusReply?) -> [Finding] {
        guard let server = status?.server else {
            return ["server", "login"].map {
                Finding($0, .skipped, "cannot be said while gotchud does not answer")
            }
        }
        let reach =
            switch server.isReachable {
            case nil: Finding("server", .skipped, "\(server.url) was not asked yet")
            case true?:
                Finding(
                    "server",
                    .good,
                    server.latencyMilliseconds.map { "\(server.url) answers in \($0) ms" }
                        ?? "\(server.url) answers"
                )
            case false?:
                Finding(
                    "server",
                    .bad,
                    "\(server.url) cannot be reached.",
                    fix: "curl -sv \(server.url.shellQuoted)/readyz"
                )
            }
        let login =
            server.isLoggedIn
            ? Finding("login", .good, "logged in")
            : Finding("login", .bad, "Nobody is logged in.", fix: "gotchu-ctl login")
        return [reach, login]
    }
}
