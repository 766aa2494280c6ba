import GotchuAPI
import GotchuCore
import LocalAPI
import PaymentClient

/// Changes the logged-in user. Refuses if the next user could not finish the open records.
struct LoginService: LocalLogins {
    let core: DaemonCore
    let payments: PaymentService
    let withdrawals: WithdrawalService
    let entries: ContestEntryService
    let requests: RequestService

    private var tokens: TokenStore { core.tokens }

    func logIn(_ login: LocalLogin) async throws(Problem) {
        var token: String
        switch (login.token, login.devEmail) {
        case (let given?, nil):
            guard let usable = TokenStore.usable(given) else {
                throw Problem.invalid("A token is one line of visible ASCII.")
            }
            token = usable
            if !TokenStore.isDevice(token) { try await refuseUnaccepted(token) }
        case (nil, let email?):
            token = try await core.client.devLogin(email: email).getOrThrow(tokens).token
        case (nil, nil), (_?, _?):
            throw Problem.invalid("One of token and dev_email must be there.")
        }
        try await refuseWhileOpen(for: TokenStore.identity(of: token))
        if TokenStore.isDevice(token) {
            if tokens.isEnrolled(with: token) {
                // The code was entered again on the same machine: its login is in use.
                guard await core.access.checkLogin() else {
                    throw Problem(
                        .serverUnreachable,
                        detail: "The payment server has not said whether it still accepts this "
                            + "login.",
                        fix: "gotchu-ctl doctor"
                    )
                }
                guard tokens.isRefused else { return }
            }
            token = try await core.access.enrol(token)
        }
        try store(token)
    }

    func logOut() async throws(Problem) {
        try await refuseWhileOpen(for: nil)
        try store(nil)
    }

    /// Throws if a record is open that the next user could not finish.
    ///
    /// - Parameter user: The next user; `nil` for none.
    private func refuseWhileOpen(for user: String?) async throws(Problem) {
        // The same user may log in again, even with open records.
        guard user == nil || user != tokens.identity else { return }
        // While nobody is logged in, an open request waits for a login. Its user is not known here.
        let isChange = user == nil || (tokens.identity.map { $0 != user } ?? false)
        let hasRequest = isChange ? await requests.hasOpenRequest : false
        let open = [
            (await payments.hasOpenRecord(notOf: user), "A payment"), (hasRequest, "A request"),
            (await withdrawals.hasOpenRecord(notOf: user), "A withdrawal"),
            (await entries.hasOpenRecord(notOf: user), "An entry of a contest"),
        ]
        guard let what = open.first(where: \.0)?.1 else { return }
        throw Problem(
            .paymentInProgress,
            detail: "\(what) of this user is still open.",
            fix: "gotchu-ctl history"
        )
    }

    /// Throws if the server rejects a token. While the server cannot be reached, the token counts
    /// as accepted.
    private func refuseUnaccepted(_ token: String) async throws(Problem) {
        guard case .unauthorized = await core.client.using(GivenToken(token)).wallet() else {
            return
        }
        throw Problem(
            .notLoggedIn,
            detail: "The payment server does not accept this token.",
            fix: "gotchu-ctl login"
        )
    }

    private func store(_ token: String?) throws(Problem) {
        do throws(TokenStore.Failure) {
            try tokens.store(token)
            core.status.publish()
        } catch {
            throw Problem(error, tokens.origin)
        }
    }
}

extension Problem {
    /// Creates the problem of a token that could not be stored.
    init(_ failure: TokenStore.Failure, _ origin: TokenStore.Origin) {
        switch failure {
        case .fixed(let path):
            self.init(
                .forbidden,
                detail: "The token comes from \(path), which gotchud does not change.",
                fix: HealthItem.login(from: origin)
            )
        case .system(let reason):
            self.init(
                .journalUnwritable,
                detail: "The token could not be kept: \(reason).",
                fix: "df -h"
            )
        }
    }
}
