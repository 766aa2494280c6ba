/// The OpenID issuer that a server believes, as it was asked for.
struct OpenIDSettings: Equatable, Sendable {
    let issuer: String
    let audience: String
    let keys: KeySource
}
