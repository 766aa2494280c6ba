import GotchuAPI
import LocalAPI
import PaymentClient
import ServiceProcess

/// The health items of all parts except the radio, whose problems are of type `RadioFailure`.
extension HealthItem {
    static let radioStarting = HealthItem(
        code: "radio-starting",
        severity: .error,
        text: "The radio is starting.",
        fix: "gotchu-ctl wait --for ready"
    )

    /// The item for a better transport that worked before. On most systems it never works, which is
    /// no problem.
    static func transportLost(_ note: String) -> HealthItem {
        HealthItem(
            code: "radio-transport-lost",
            severity: .warning,
            text: "A better way to listen worked before: \(note).",
            fix: "journalctl -u gotchud -n 50"
        )
    }

    static let serverNotProbed = HealthItem(
        code: "server-not-asked",
        severity: .error,
        text: "The payment server is being asked for the first time.",
        fix: "gotchu-ctl wait --for ready"
    )

    /// Returns the item for a payment server that gives no valid answers.
    static func server(_ route: ServerRoute, _ outage: Outage) -> HealthItem {
        let server = route.server
        let curl = route.curlCommand
        let way = route.proxy.map { " through the proxy \($0)" } ?? ""
        // A proxy resolves the server's name. If a proxy is used, the unknown name is therefore the
        // proxy's.
        let name = route.proxy.map { "the proxy \($0)" } ?? "the payment server \(server)"
        let (code, text, fix) =
            switch outage.code {
            case .unreachable:
                ("server-unreachable", "No server answers at \(server)\(way).", curl)
            case .unknownName:
                (
                    "server-name-unknown",
                    "No address is known for the name of \(name).",
                    "getent hosts \(route.proxy?.host ?? server.host)"
                )
            case .refusedByProxy:
                (
                    "server-refused-by-proxy",
                    "The proxy before the payment server \(server) makes no connection to it.",
                    "Tell the operator of \(name): \(curl)"
                )
            case .untrusted:
                (
                    "server-untrusted",
                    "The TLS certificate of \(server) is not trusted here, or this machine's clock "
                        + "is wrong.",
                    "Name its CA, if that is one of your own, as ca_file in gotchud.json: \(curl)"
                )
            case .timedOut:
                (
                    "server-silent", "The payment server \(server) does not answer in time\(way).",
                    curl
                )
            case .unreadable:
                (
                    "server-foreign",
                    "What answers at \(server) is not a payment server: the address is wrong, or "
                        + "this network wants to be logged in to first.",
                    curl
                )
            case .failing:
                (
                    "server-failing",
                    "What stands before the payment server \(server) does not reach it "
                        + "(\(outage.underlying ?? "HTTP 5xx")).",
                    "Tell the payment server's operator: \(curl)"
                )
            case .busy, .limited, .otherUser:
                (
                    "server-not-ready",
                    "The payment server \(server) says that it cannot work now"
                        + "\(outage.serverDetail.map { ": \($0)" } ?? ".")",
                    "Tell the payment server's operator: \(curl)"
                )
            }
        return HealthItem(code: code, severity: .error, text: text, fix: fix)
    }

    /// Returns the item for a server that reports that it is ready while calls fail.
    static func callsFail(_ server: ServerURL, _ outage: Outage) -> HealthItem {
        HealthItem(
            code: "server-calls-fail",
            severity: .error,
            text: "The payment server \(server) says that it is ready, but calls to it come to "
                + "nothing (\(outage.code.rawValue)).",
            fix: "journalctl -u gotchud -n 50"
        )
    }

    /// Returns the item for a journal that cannot be written. No payment or request is then
    /// started: a crash would lose it.
    static func journalUnwritable(_ failure: JournalFailure) -> HealthItem {
        HealthItem(
            code: "journal-unwritable",
            severity: .error,
            text: failure.sentence,
            fix: failure.fix
        )
    }

    static func notLoggedIn(from origin: TokenStore.Origin) -> HealthItem {
        let text =
            switch origin {
            case .own: "Nobody is logged in at the payment server."
            case .file(let path): "gotchud finds no token in \(path)."
            case .credential: "gotchud finds no token in its systemd credential."
            }
        return HealthItem(
            code: "not-logged-in",
            severity: .error,
            text: text,
            fix: login(from: origin)
        )
    }

    static func loginRefused(_ tokens: TokenStore) -> HealthItem {
        let logIn = login(from: tokens.origin)
        let (text, fix) =
            switch (tokens.login?.device, tokens.refusal) {
            case (nil, _): ("The payment server does not accept this daemon's login.", logIn)
            case (let device?, .revoked):
                (
                    "This device's login was revoked: by the server's operator, or because "
                        + "a copy of it was used.",
                    "\(newCode(for: device)). Then: \(logIn)"
                )
            case (let device?, .notAccepted), (let device?, nil):
                (
                    "The payment server does not accept this device's login: it has expired, or "
                        + "the device was enrolled anew.",
                    "\(newCode(for: device)). Then: \(logIn)"
                )
            }
        return HealthItem(code: "login-refused", severity: .error, text: text, fix: fix)
    }

    /// Returns an instruction to get a new code.
    ///
    /// - Parameter device: The device's id, if it is known.
    static func newCode(for device: Substring?) -> String {
        "Ask the server's operator for a new code: gotchu-server devices renew \(device ?? "ID")"
    }

    /// Returns the command to log in. If `gotchu-ctl login` is refused, returns an instruction for
    /// the operator.
    static func login(from origin: TokenStore.Origin) -> String {
        switch origin {
        case .own: "gotchu-ctl login"
        case .file(let path):
            "Put the token into \(path), where gotchud may read it, and run: "
                + "sudo systemctl reload gotchud"
        case .credential:
            "Put the token into /etc/credstore/gotchu.token, or where else LoadCredential= of "
                + "gotchud.service takes it from, and run: sudo systemctl restart gotchud"
        }
    }

    /// Returns the item for payments and refunds whose outcome is not known. No outcome is guessed.
    static func paymentsUnresolved(_ count: Int) -> HealthItem {
        HealthItem(
            code: "payment-unresolved",
            severity: .warning,
            text: count == 1
                ? "It is not known how a payment or refund ended; the history says why."
                : "It is not known how \(count) payments or refunds ended; the history says why.",
            fix: "gotchu-ctl history"
        )
    }

    static func serverNotEncrypted(_ server: ServerURL) -> HealthItem {
        HealthItem(
            code: "server-not-encrypted",
            severity: .warning,
            text: "\(server) is spoken to in the clear: whoever is on the way can read the token.",
            fix: "Use an https:// address for the payment server."
        )
    }

    /// The item for a display without a reader. Customers see nothing, and the cashier may not
    /// notice.
    static let displayMissing = HealthItem(
        code: "display-missing",
        severity: .warning,
        text: "The customer's display is configured, and no browser shows it.",
        fix: "systemctl status gotchu-display"
    )

    /// Returns the item for an address of this machine that is not served, most often because its
    /// port is taken.
    static func portUnavailable(_ setting: String, _ address: LoopbackAddress) -> HealthItem {
        HealthItem(
            code: "port-unavailable",
            severity: .warning,
            text: "Nothing is served at \(address), the address of \(setting): another program may "
                + "use the port.",
            fix: "See who uses it, or choose another: sudo ss -ltnp 'sport = :\(address.port)'"
        )
    }

    static func reloadRefused(_ problem: ConfigurationError) -> HealthItem {
        HealthItem(
            code: "configuration-invalid",
            severity: .warning,
            text: "The new configuration was not taken: \(problem.place): \(problem.problem)",
            fix: DaemonFailure.checkCommand
        )
    }
}
