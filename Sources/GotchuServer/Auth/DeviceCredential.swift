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
    /// How often it was exchanged, and the server's seal on that and on all else; a first one has
    /// neither.
    private let seal: (number: Int64, code: [UInt8])?

    private init(
        device: DeviceID,
        family: [UInt8],
        secret: [UInt8],
        seal: (number: Int64, code: [UInt8])? = nil
    ) {
        self.device = device
        self.family = family
        self.secret = secret
        self.seal = seal
    }

    /// The first credential of a device.
    init(for device: DeviceID) {
        self.init(
            device: device,
            family: .random(Self.familyLength),
            secret: .random(Self.secretLength)
        )
    }

    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard text.utf8.count <= 256, parts.count == 4 || parts.count == 6,
            parts[0] == Self.prefix[...],
            let family = Base64URL.decode(parts[2]), family.count == Self.familyLength,
            let secret = Base64URL.decode(parts[3]), secret.count == Self.secretLength
        else { return nil }
        let device = DeviceID(trusted: String(parts[1]))
        guard parts.count == 6 else {
            self.init(device: device, family: family, secret: secret)
            return
        }
        guard let number = Int64(parts[4]), number > 0, let code = Base64URL.decode(parts[5])
        else { return nil }
        self.init(device: device, family: family, secret: secret, seal: (number, code))
    }

    /// The one that takes its place, not yet numbered.
    var successor: DeviceCredential {
        DeviceCredential(
            device: device,
            family: family,
            secret: .random(Self.secretLength)
        )
    }

    /// The same with its number, sealed.
    func numbered(_ number: Int64, sealedWith key: SymmetricKey) -> DeviceCredential {
        let code = HMAC<SHA256>.authenticationCode(for: sealedBytes(number), using: key)
        return DeviceCredential(
            device: device,
            family: family,
            secret: secret,
            seal: (number, Array(code))
        )
    }

    /// Its number, if the server that holds `key` has given it that.
    func number(sealedWith key: SymmetricKey) -> Int64? {
        guard let seal else { return nil }
        let isOurs = HMAC<SHA256>.isValidAuthenticationCode(
            seal.code,
            authenticating: sealedBytes(seal.number),
            using: key
        )
        return isOurs ? seal.number : nil
    }

    /// No token's signed bytes begin like this: the same key seals nothing else that looks so.
    private func sealedBytes(_ number: Int64) -> [UInt8] {
        Array("\(Self.prefix).\(device).\(number).".utf8) + family + secret
    }

    /// The text that its bearer keeps.
    var text: String {
        let known = [
            Self.prefix, device.rawValue, Base64URL.encode(family), Base64URL.encode(secret),
        ]
        let sealed = seal.map { ["\($0.number)", Base64URL.encode($0.code)] } ?? []
        return (known + sealed).joined(separator: ".")
    }

    /// Good enough for secrets that are random to begin with: there is nothing to guess at.
    var familyHash: [UInt8] { Array(SHA256.hash(data: family)) }
    var secretHash: [UInt8] { Array(SHA256.hash(data: secret)) }
}
