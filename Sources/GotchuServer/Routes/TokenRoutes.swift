internal import Devices
internal import GotchuAPI
internal import GotchuCore
internal import Hummingbird
internal import Ledger
internal import Logging

/// Exchanges registered devices' credentials for short-lived access tokens.
///
/// Anyone can send invalid credentials. They are refused after a read, without a write, so they do
/// not load the ledger's writer.
struct TokenRoutes: Sendable {
    let ledger: Ledger
    let devices: DeviceRegistry
    let tokens: Tokens
    let authentication: CallerAuthentication
    /// The lifetime of an access token. A revoked device keeps its access for at most this time.
    let lifetime: Duration

    private var limits: Limits { authentication.limits }

    @Sendable func refresh(_ request: Request, _ context: ServerContext) async throws -> Response {
        try limits.allowLogin(from: context.client)
        var fields = try await request.fields()
        let text = try fields.string("refresh_token")
        try fields.rejectUnreadMembers()
        guard let text else { throw Problem.invalid("refresh_token is missing.") }
        let exchange = try exchange(of: text, context)
        try await preview(exchange, context)
        guard !ledger.isBusy else { throw Self.busy }
        let lifetime = lifetime
        let outcome = try await devices.change(exchange.device) { device in
            let before = device
            let admission = exchange.admit(&device)
            if admission == .admitted {
                device.recordToken(until: exchange.time.advanced(by: lifetime))
            }
            return (admission, device, isNewlyRevoked: before.revokedAt != device.revokedAt)
        }
        guard let (admission, device, isNewlyRevoked) = outcome else { throw Self.refused }
        if isNewlyRevoked {
            context.log.warning(
                "A device was revoked: a copy of its credential was used after its successor.",
                metadata: ["device": "\(device.id)"]
            )
        }
        if let problem = Self.problem(admission, device) { throw problem }
        return try reply(device, exchange.successor, at: exchange.time)
    }

    /// Returns the user of an access token or of a device's credential, which is not exchanged.
    /// Thousands of tills call this each minute: it costs one read.
    @Sendable func show(_ request: Request, _ context: ServerContext) async throws -> Response {
        guard let text = Tokens.bearer(of: request), DeviceCredential.hasPrefix(text) else {
            let login = try await authentication.login(of: request)
            return try Reply.json(LoginReply(userID: login.user.rawValue))
        }
        let (device, admission) = try await preview(try exchange(of: text, context), context)
        // A copy is found out when it is exchanged, not here.
        guard admission == .admitted else { throw Self.refused }
        return try Reply.json(LoginReply(userID: device.user.rawValue))
    }

    /// The use of a credential, with everything that decides about it except the device's state.
    private struct Exchange: Sendable {
        let shown: DeviceCredential
        /// The verified generation of the credential; `nil` if this server has not sealed it.
        let number: Int64?
        let successor: DeviceCredential
        let time: Timestamp

        var device: DeviceID { shown.device }

        func admit(_ device: inout Device) -> Device.Admission {
            device.admit(
                family: shown.familyHash,
                secret: shown.secretHash,
                number: number,
                isCode: shown.isCode,
                successor: successor.secretHash,
                hasNonce: shown.hasNonce,
                at: time
            )
        }
    }

    /// Parses a credential and applies the rate limits to it.
    private func exchange(of text: String, _ context: ServerContext) throws -> Exchange {
        guard let shown = DeviceCredential(text) else {
            try limits.allowCredential(sealed: nil, from: context.client)
            limits.countUnknownCredential(from: context.client)
            throw Self.refused
        }
        let key = tokens.localIssuer.key
        let number = shown.number(sealedWith: key)
        try limits.allowCredential(
            sealed: number == nil ? nil : shown.familyHash,
            from: context.client
        )
        return Exchange(
            shown: shown,
            number: number,
            successor: shown.successor(by: key),
            time: tokens.clock()
        )
    }

    /// Decides about an exchange without carrying it out.
    ///
    /// - Returns: The device before the exchange, and the decision: the exchange is admitted, or it
    ///   revokes the device.
    /// - Throws: The problem of an exchange that changes nothing.
    @discardableResult
    private func preview(
        _ exchange: Exchange,
        _ context: ServerContext
    ) async throws -> (Device, Device.Admission) {
        var refusal: Problem?
        if let known = try await devices.device(exchange.device) {
            var changed = known
            let admission = exchange.admit(&changed)
            if admission == .admitted || changed != known { return (known, admission) }
            refusal = Self.problem(admission, known)
        }
        if exchange.number == nil { limits.countUnknownCredential(from: context.client) }
        throw refusal ?? Self.refused
    }

    private func reply(
        _ device: Device,
        _ successor: DeviceCredential,
        at now: Timestamp
    ) throws -> Response {
        try Reply.json(
            TokenReply(
                accessToken: try tokens.localIssuer.sign(
                    Login(user: device.user, device: device.id),
                    scope: device.scopes,
                    lifetime: lifetime,
                    at: now
                ),
                expiresIn: lifetime.components.seconds,
                refreshToken: successor.numbered(
                    device.generation,
                    sealedWith: tokens.localIssuer.key
                ).text,
                userID: device.user.rawValue,
                scope: device.scopes
            )
        )
    }

    private static var busy: ProblemWithHeaders {
        Problem(.tryAgain, detail: "Too many commands are waiting.", retryable: true)
            .retry(after: 1)
    }

    /// The same reply for every credential that is not the current one of a device. Only the holder
    /// of a device's fixed secret learns more.
    private static var refused: Problem {
        Problem(
            .unauthorized,
            detail: "The credential is not, or no longer, good.",
            fix: "Have the operator run: gotchu-server devices renew ID",
            retryable: false
        )
    }

    /// Returns the problem of an exchange; `nil` if it was admitted.
    private static func problem(_ admission: Device.Admission, _ device: Device) -> Problem? {
        let fix = "Have the operator run: gotchu-server devices renew \(device.id)"
        switch admission {
        case .admitted: return nil
        case .refused: return refused
        case .codeUsed:
            return Problem(
                .deviceCodeUsed,
                detail: "This code was used already: a code is good for one machine, once.",
                fix: fix,
                retryable: false
            )
        case .revoked:
            let reason =
                device.revocation == .byReuse
                ? "a copy of its credential was used." : "the operator has ended its login."
            return Problem(
                .deviceRevoked,
                detail: "This device was revoked: \(reason)",
                fix: fix,
                retryable: false
            )
        }
    }
}
