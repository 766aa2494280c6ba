internal import Crypto
internal import Devices
internal import GotchuCore
internal import Ledger

/// The credential that a device exchanges for a token. It contains the device's id and two secrets,
/// and after the first exchange also a seal. The server neither logs nor stores the credential.
struct DeviceCredential: Sendable {
    /// The prefix that lets people and secret scanners recognise a leaked credential.
    static let prefix = "gotchu-device"
    private static let familyLength = 16
    private static let secretLength = 32
    /// The longest text of a credential, its nonce included, in bytes.
    static let lengthLimit = 256

    let device: DeviceID
    private let family: [UInt8]
    private let secret: [UInt8]
    /// The generation number, and the server's HMAC over it, the device id and both secrets. Absent
    /// until `numbered` is called.
    private var seal: (number: Int64, code: [UInt8])?
    /// A nonce that the device appends; empty if there is none. The successor depends on it, so a
    /// thief with a copy of the credential cannot repeat this exchange.
    private var nonce: [UInt8] = []
}

extension DeviceCredential {
    /// Creates the first credential of a device.
    init(for device: DeviceID) {
        self.init(
            device: device,
            family: .random(Self.familyLength),
            secret: .random(Self.secretLength)
        )
    }

    /// Returns true if a text begins like a credential. A token does not.
    static func hasPrefix(_ text: String) -> Bool { text.utf8.starts(with: "\(prefix).".utf8) }

    init?(_ text: String) {
        guard text.utf8.count <= Self.lengthLimit else { return nil }
        // The search compares bytes. A search by characters would not find a tilde that a combining
        // mark follows.
        let tilde = text.utf8.firstIndex(of: UInt8(ascii: "~")) ?? text.endIndex
        let nonce = Array(text.utf8[tilde...].dropFirst())
        let parts = text[..<tilde].split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4 || parts.count == 6, parts[0] == Self.prefix[...], parts[1].isUUID,
            let family = Base64URL.decode(parts[2]), family.count == Self.familyLength,
            let secret = Base64URL.decode(parts[3]), secret.count == Self.secretLength
        else { return nil }
        let device = DeviceID(trusted: String(parts[1]))
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

    /// A Boolean that is true if the device appended a nonce.
    var hasNonce: Bool { !nonce.isEmpty }

    /// A Boolean that is true for a device's first credential, which a person carries to it.
    var isCode: Bool { seal == nil }

    /// Returns the successor, without a number. Each exchange of this credential with the same
    /// nonce yields the same successor. Nobody can compute it without the server's `key`.
    func successor(by key: SymmetricKey) -> DeviceCredential {
        let shown = Array("\(Self.prefix)-successor.\(device).".utf8) + family + secret + nonce
        let secret = HMAC<SHA256>.authenticationCode(for: shown, using: key)
        return DeviceCredential(device: device, family: family, secret: Array(secret))
    }

    /// Returns the credential with a number and its seal.
    func numbered(_ number: Int64, sealedWith key: SymmetricKey) -> DeviceCredential {
        let code = HMAC<SHA256>.authenticationCode(for: sealedBytes(number), using: key)
        return DeviceCredential(
            device: device,
            family: family,
            secret: secret,
            seal: (number, Array(code))
        )
    }

    /// Returns the number; `nil` if it was not sealed with `key`.
    func number(sealedWith key: SymmetricKey) -> Int64? {
        guard let seal else { return nil }
        let isOurs = HMAC<SHA256>.isValidAuthenticationCode(
            seal.code,
            authenticating: sealedBytes(seal.number),
            using: key
        )
        return isOurs ? seal.number : nil
    }

    /// The bytes that the seal covers. Their prefix differs from that of a token's signed bytes and
    /// of a successor's source. The same key therefore never signs equal bytes for two purposes.
    private func sealedBytes(_ number: Int64) -> [UInt8] {
        Array("\(Self.prefix).\(device).\(number).".utf8) + family + secret
    }

    /// The text that the device stores.
    var text: String {
        let known = [
            Self.prefix, device.rawValue, Base64URL.encode(family), Base64URL.encode(secret),
        ]
        let sealed = seal.map { ["\($0.number)", Base64URL.encode($0.code)] } ?? []
        return (known + sealed).joined(separator: ".")
    }

    /// The hash of the family secret, which all successors share. A plain hash is enough, because
    /// random secrets cannot be guessed.
    var familyHash: [UInt8] { Array(SHA256.hash(data: family)) }
    var secretHash: [UInt8] { Array(SHA256.hash(data: secret)) }
}
