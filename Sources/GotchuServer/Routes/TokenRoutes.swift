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
    let limits: Limits
    /// The lifetime of an access token. A revoked device keeps its access for at most this time.
    let lifetime: Duration

    @Sendable func refresh(_ request: Request, _ context: ServerContext) async throws -> Response {
        try limits.allowLogin(from: context.client)
        var fields = try await request.fields()
        let text = try fields.string("refresh_token")
        try fields.rejectUnreadMembers()
        guard let text else { throw Problem.invalid("refresh_token is missing.") }
        guard let shown = DeviceCredential(text) else {
            try limits.allowCredential(sealed: nil, from: context.client)
            limits.countUnknownCredential(from: context.client)
            throw Self.refused
        }
        let successor = shown.successor(by: tokens.localIssuer.key)
        let number = shown.number(sealedWith: tokens.localIssuer.key)
        let now = tokens.clock()
        let admit: @Sendable (inout Device) -> (Device.Admission, Device) = { device in
            let admission = device.admit(
                family: shown.familyHash,
                secret: shown.secretHash,
                number: number,
                successor: successor.secretHash,
                hasNonce: shown.hasNonce,
                at: now
            )
            return (admission, device)
        }
        let isSealed = number != nil
        try limits.allowCredential(sealed: isSealed ? shown.familyHash : nil, from: context.client)
        guard var known = try await devices.device(shown.device), admit(&known).0 != .refused else {
            if !isSealed { limits.countUnknownCredential(from: context.client) }
            throw Self.refused
        }
        guard !ledger.isBusy else { throw Self.busy }
        guard let (admission, device) = try await devices.change(shown.device, admit) else {
            throw Self.refused
        }
        return try reply(admission, device, successor, at: now, context)
    }

    private func reply(
        _ admission: Device.Admission,
        _ device: Device,
        _ successor: DeviceCredential,
        at now: Timestamp,
        _ context: ServerContext
    ) throws -> Response {
        switch admission {
        case .admitted: break
        case .refused: throw Self.refused
        case .revoked:
            context.log.warning(
                "A device was revoked: a copy of its credential was used after its successor.",
                metadata: ["device": "\(device.id)"]
            )
            throw Self.refused
        }
        return try Reply.json(
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

    /// The same reply for every invalid credential.
    private static var refused: Problem {
        Problem(
            .unauthorized,
            detail: "The credential is not, or no longer, good.",
            fix: "Have the operator run: gotchu-server devices renew ID",
            retryable: false
        )
    }
}
