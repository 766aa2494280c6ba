/// The settings of the OpenID issuer whose tokens are accepted.
struct OpenIDSettings: Equatable, Sendable {
    let issuer: String
    let audience: String
    let keys: KeySource
}
