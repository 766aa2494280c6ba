internal import Crypto
internal import Ledger

/// What a device shows to get a token: its name and two secrets. Never logged, never stored.
struct DeviceCredential: Sendable {
    /// Says what it is, to a person and to a scanner for lost secrets.
    static let prefix = "gotchu-device"
    private static let familyLength = 16
    private static let secretLength = 32

    let device: DeviceID
    private let family: [UInt8]
    private let secret: [UInt8]

    private init(device: DeviceID, family: [UInt8], secret: [UInt8]) {
        self.device = device
        self.family = family
        self.secret = secret
    }

    /// The first credential of a device.
    init(for device: DeviceID) {
        self.init(
            device: device,
            family: Self.random(Self.familyLength),
            secret: Self.random(Self.secretLength)
        )
    }

    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard text.utf8.count <= 256, parts.count == 4, parts[0] == Self.prefix[...],
            let family = Base64URL.decode(parts[2]), family.count == Self.familyLength,
            let secret = Base64URL.decode(parts[3]), secret.count == Self.secretLength
        else { return nil }
        self.init(device: DeviceID(trusted: String(parts[1])), family: family, secret: secret)
    }

    /// The one that takes its place.
    var successor: DeviceCredential {
        DeviceCredential(
            device: device,
            family: family,
            secret: Self.random(Self.secretLength)
        )
    }

    /// The text that its bearer keeps.
    var text: String {
        "\(Self.prefix).\(device).\(Base64URL.encode(family)).\(Base64URL.encode(secret))"
    }

    /// Good enough for secrets that are random to begin with: there is nothing to guess at.
    var familyHash: [UInt8] { Array(SHA256.hash(data: family)) }
    var secretHash: [UInt8] { Array(SHA256.hash(data: secret)) }

    private static func random(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }
}
