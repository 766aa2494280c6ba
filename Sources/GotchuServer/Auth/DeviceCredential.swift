internal import Crypto
internal import Devices
internal import Ledger

/// The credential that a device exchanges for a token: its id and two secrets. Never logged,
/// never stored.
struct DeviceCredential: Sendable {
    /// Says what it is, to a person and to a scanner for lost secrets.
    static let prefix = "gotchu-device"
    private static let familyLength = 16
    private static let secretLength = 32
    /// The longest text of a credential, its nonce included, in bytes.
    static let lengthLimit = 256

    let device: DeviceID
    private let family: [UInt8]
    private let secret: [UInt8]
    /// The number of exchanges so far and the server's seal on that and on the rest; absent from a
    /// first credential.
    private let seal: (number: Int64, code: [UInt8])?
    /// The nonce that its bearer has appended, to tell this exchange from one that a copy makes.
    private let nonce: [UInt8]

    private init(
        device: DeviceID,
        family: [UInt8],
        secret: [UInt8],
        seal: (number: Int64, code: [UInt8])? = nil,
        nonce: [UInt8] = []
    ) {
        self.device = device
        self.family = family
        self.secret = secret
        self.seal = seal
        self.nonce = nonce
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
        guard text.utf8.count <= Self.lengthLimit else { return nil }
        // By bytes: what follows may begin with a mark that belongs to the letter before it.
        let tilde = text.utf8.firstIndex(of: UInt8(ascii: "~")) ?? text.endIndex
        let nonce = Array(text.utf8[tilde...].dropFirst())
        let parts = text[..<tilde].split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4 || parts.count == 6, parts[0] == Self.prefix[...],
            let device = DeviceID(shown: parts[1]),
            let family = Base64URL.decode(parts[2]), family.count == Self.familyLength,
            let secret = Base64URL.decode(parts[3]), secret.count == Self.secretLength
        else { return nil }
        guard parts.count == 6 else {
            self.init(device: device, family: family, secret: secret, nonce: nonce)
            return
        }
        guard let number = Int64(parts[4]), number > 0, let code = Base64URL.decode(parts[5])
        else { return nil }
        self.init(
            device: device,
            family: family,
            secret: secret,
            seal: (number, code),
            nonce: nonce
        )
    }

    /// True if the nonce tells this exchange from others of the same credential.
    var hasNonce: Bool { !nonce.isEmpty }

    /// The one that takes its place, not yet numbered: the same each time that this is shown with
    /// the same nonce, and nobody's guess without the server's `key`.
    func successor(by key: SymmetricKey) -> DeviceCredential {
        let shown = Array("\(Self.prefix)-successor.\(device).".utf8) + family + secret + nonce
        let secret = HMAC<SHA256>.authenticationCode(for: shown, using: key)
        return DeviceCredential(device: device, family: family, secret: Array(secret))
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

    /// Neither a token's signed bytes nor what a successor is made of begin like this: the same key
    /// seals nothing else that looks so.
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

extension DeviceID {
    /// An id that a stranger has written, if it looks like one.
    fileprivate init?(shown text: Substring) {
        guard text.wholeMatch(of: /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/) != nil
        else { return nil }
        self.init(trusted: String(text))
    }
}
