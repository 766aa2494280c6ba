import GotchuAPI
import PaymentClient

/// What can be wrong beside the radio; the radio's own problems are `RadioFailure`s.
extension HealthItem {
    static let radioStarting = HealthItem(
        code: "radio-starting",
        severity: .error,
        text: "The radio is starting.",
        fix: "gotchu-ctl wait --for ready"
    )

    /// To run without the better transport is how most are installed; to lose it is not.
    static func transportLost(_ note: String) -> HealthItem {
        HealthItem(
            code: "radio-transport-lost",
            severity: .warning,
            text: "A better way to listen worked before: \(note).",
            fix: "journalctl -u gotchud -n 50"
        )
    }

    static let serverNotAsked = HealthItem(
        code: "server-not-asked",
        severity: .error,
        text: "The payment server is being asked for the first time.",
        fix: "gotchu-ctl wait --for ready"
    )

    static func serverUnreachable(_ server: ServerURL) -> HealthItem {
        HealthItem(
            code: "server-unreachable",
            severity: .error,
            text: "The payment server \(server) does not answer.",
            fix: "curl \(server)/healthz"
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

    static func loginRefused(from origin: TokenStore.Origin) -> HealthItem {
        HealthItem(
            code: "login-refused",
            severity: .error,
            text: "The payment server does not accept this daemon's login.",
            fix: login(from: origin)
        )
    }

    /// What logs in: `gotchu-ctl login` does not where the operator does.
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

    /// Nothing is guessed about them, so that a person must know.
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

    static func reloadRefused(_ problem: ConfigurationError) -> HealthItem {
        HealthItem(
            code: "configuration-invalid",
            severity: .warning,
            text: "The new configuration was not taken: \(problem.place): \(problem.problem)",
            fix: DaemonFailure.checkCommand
        )
    }
}
