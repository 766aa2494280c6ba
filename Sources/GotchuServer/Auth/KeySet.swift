internal import GotchuAPI
internal import GotchuCore
internal import JWTKit

/// An issuer's public keys by their ids: a JSON Web Key Set (RFC 7517).
struct KeySet: Sendable {
    /// The largest set, in bytes.
    static let sizeLimit = 256 * 1024
    /// The largest number of keys in a set.
    private static let keyLimit = 64
    /// The longest text of a member: 8192 bits in base64. Larger keys make verification slow.
    private static let maximumMemberLength = 1_400

    private let keys: [String: VerificationKey]

    static let empty = KeySet(keys: [:])

    var count: Int { keys.count }

    subscript(_ name: String) -> VerificationKey? { keys[name] }

    private init(keys: [String: VerificationKey]) {
        self.keys = keys
    }

    /// An error for the operator: the reason why the bytes are no key set or contain no usable
    /// key.
    struct Unusable: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) {
            self.description = description
        }
    }

    /// Parses a set. Keys without an id, with an id that an earlier key has, of other types, or for
    /// another use are ignored. Secret and private keys are also ignored, because a published one
    /// is compromised.
    ///
    /// - Throws: `Unusable` if the bytes are no set, are too large, or contain no usable key.
    init(_ bytes: [UInt8]) async throws {
        guard bytes.count <= Self.sizeLimit else {
            throw Unusable("It has more than \(Self.sizeLimit / 1_024) KiB.")
        }
        guard let wire = try? JSONReader.decode(Wire.self, bytes) else {
            throw Unusable("It is no JSON Web Key Set.")
        }
        guard wire.keys.count <= Self.keyLimit else {
            throw Unusable("It has more than \(Self.keyLimit) keys.")
        }
        var keys: [String: VerificationKey] = [:]
        for entry in wire.keys {
            guard let name = entry.kid, !name.isEmpty, keys[name] == nil,
                let key = await Self.key(entry)
            else { continue }
            keys[name] = key
        }
        guard !keys.isEmpty else {
            throw Unusable(
                "None of its \(wire.keys.count) keys is of use: a public key for signatures, RSA, "
                    + "P-256, P-384 or Ed25519, that has a kid."
            )
        }
        self.keys = keys
    }

    private struct Wire: Decodable {
        let keys: [Entry]
    }

    /// A key of the set. Unused members are not decoded. A malformed or too long member counts as
    /// absent, so it invalidates only its own key.
    private struct Entry: Decodable {
        var kid, kty, alg, use, n, e, crv, x, y: String?
        var isSecret = false

        private enum Name: String, CodingKey {
            case kid, kty, alg, use, n, e, crv, x, y, d, k
        }

        init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: Name.self)
            func text(_ name: Name) -> String? {
                guard let text = try? members.decode(String.self, forKey: name),
                    text.utf8.count <= maximumMemberLength
                else { return nil }
                return text
            }
            (kid, kty, alg, use) = (text(.kid), text(.kty), text(.alg), text(.use))
            (n, e, crv, x, y) = (text(.n), text(.e), text(.crv), text(.x), text(.y))
            isSecret = members.contains(.d) || members.contains(.k)
        }
    }

    private static func key(_ entry: Entry) async -> VerificationKey? {
        guard !entry.isSecret, entry.use ?? "sig" == "sig", let name = entry.kid,
            let key = webKey(entry, JWKIdentifier(string: name))
        else { return nil }
        let collection = JWTKeyCollection()
        guard (try? await collection.add(jwk: key)) != nil,
            let algorithm = try? await collection.getKey(for: JWKIdentifier(string: name))
        else { return nil }
        return VerificationKey(algorithm)
    }

    /// Returns the key with its one algorithm. This is the entry's `alg`; without `alg` it is RS256
    /// for RSA, or the only algorithm of the curve. Returns `nil` for other types and algorithms.
    private static func webKey(_ entry: Entry, _ name: JWKIdentifier) -> JWK? {
        switch (entry.kty, entry.crv, entry.alg) {
        case ("RSA", _, nil), ("RSA", _, "RS256"):
            .rsa(.rs256, identifier: name, modulus: entry.n, exponent: entry.e)
        case ("RSA", _, "PS256"):
            .rsa(.ps256, identifier: name, modulus: entry.n, exponent: entry.e)
        case ("EC", "P-256", nil), ("EC", "P-256", "ES256"):
            .ecdsa(.es256, identifier: name, x: entry.x, y: entry.y, curve: .p256)
        case ("EC", "P-384", nil), ("EC", "P-384", "ES384"):
            .ecdsa(.es384, identifier: name, x: entry.x, y: entry.y, curve: .p384)
        case ("OKP", "Ed25519", nil), ("OKP", "Ed25519", "EdDSA"):
            .octetKeyPair(.eddsa, identifier: name, x: entry.x, y: nil, curve: .ed25519)
        default: nil
        }
    }
}
