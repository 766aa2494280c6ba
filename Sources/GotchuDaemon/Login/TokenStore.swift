import Crypto
import FoundationEssentials
import Glibc
import GotchuAPI
import GotchuCore
import ServiceProcess
import Synchronization

/// The login: a bearer token or a device's credential, in memory and in one file.
///
/// No log line or error contains it.
final class TokenStore: Sendable {
    private let path: String
    /// The file of a credential's successors. It is used if `login` may not write the credential's
    /// own file.
    private let successorPath: String
    /// The file of the secret from which the nonces of this machine's exchanges of codes are
    /// derived.
    private let enrolmentPath: String
    /// The source of the login.
    let origin: Origin
    private let cached: Mutex<String?>
    /// The last login that the server has refused, and the reason.
    private let refused = Mutex<(login: String, reason: Refusal)?>(nil)

    /// A source of the login.
    enum Origin: Equatable {
        /// The daemon's own file, which `login` writes.
        case own
        /// A token file that the operator has configured.
        case file(path: String)
        /// A systemd credential. Its file does not change while the service runs.
        case credential
    }

    /// The reason why the server refuses a login.
    enum Refusal: Equatable {
        /// The token or credential is not valid, or not any more.
        case notAccepted
        /// The device was revoked.
        case revoked

        init(_ problem: Problem) {
            self = problem.errorCode == .deviceRevoked ? .revoked : .notAccepted
        }
    }

    /// The reason why a token could not be stored.
    enum Failure: Error, Equatable {
        /// The token's file belongs to the operator or to systemd.
        case fixed(path: String)
        case system(String)
    }

    /// - Parameters:
    ///   - configured: The configured token file.
    ///   - credentials: The folder of systemd credentials; `nil` if the service manager gave none.
    ///   - stateDirectory: The folder for a token stored by `login` and for a credential's
    ///     successors.
    init(configured: String?, credentials: String?, stateDirectory: String) {
        let credential = credentials.map { $0 + "/token" }
        if let configured {
            path = configured
            origin = .file(path: configured)
        } else if let credential, access(credential, R_OK) == 0 {
            path = credential
            origin = .credential
        } else {
            path = stateDirectory + "/token"
            origin = .own
        }
        successorPath = stateDirectory + "/device-credential"
        enrolmentPath = stateDirectory + "/enrolment"
        cached = Mutex(Self.newest(path, successorPath))
    }

    var token: String? { cached.withLock(\.self) }

    /// A bearer token, or a credential to exchange for one.
    struct Login {
        let text: String

        /// A Boolean that is true if the text is a credential, which must be exchanged for a token
        /// first.
        var isDevice: Bool { TokenStore.isDevice(text) }
        /// A Boolean that is true if the text is an operator's code. All credentials that this
        /// machine has stored have a nonce.
        var isCode: Bool { isDevice && !text.utf8.contains(UInt8(ascii: "~")) }
        /// The device's id; `nil` for a person's token.
        var device: Substring? { isDevice ? TokenStore.family(text).dropFirst().first : nil }
        var identity: String { TokenStore.identity(of: text) }
    }

    var login: Login? { token.map(Login.init) }

    /// A Boolean that is true while the last answer of the server refuses the login.
    var isRefused: Bool { refusal != nil }

    /// The reason of the server's last answer if it refuses the login; otherwise `nil`.
    var refusal: Refusal? {
        let token = token
        return refused.withLock { $0?.login == token ? $0?.reason : nil }
    }

    private var isWritable: Bool { origin == .own }

    /// Throws if a new token could not be stored.
    func requireWritable() throws(Failure) {
        guard isWritable else { throw .fixed(path: path) }
    }

    /// Records that the server has accepted or refused a login.
    ///
    /// - Parameter refusal: The reason; `nil` if the login was accepted.
    /// - Returns: True if this is a change.
    func record(_ login: String, _ refusal: Refusal?) -> Bool {
        refused.withLock { refused in
            let known = refused?.login == login ? refused?.reason : nil
            guard known != refusal else { return false }
            refused = refusal.map { (login, $0) }
            return true
        }
    }

    private static let devicePrefix = "gotchu-device."

    /// Returns true for a device's credential: `gotchu-device.ID.FAMILY.SECRET…`.
    static func isDevice(_ text: String) -> Bool { text.hasPrefix(devicePrefix) }

    /// The part that a credential has in common with its successors.
    private static func family(_ text: String) -> ArraySlice<Substring> {
        text.split(separator: ".").prefix(3)
    }

    /// Returns the content of the file. If the file holds a credential with a stored successor,
    /// returns the successor.
    private static func newest(_ path: String, _ successorPath: String) -> String? {
        guard let given = read(path), isDevice(given), let kept = read(successorPath),
            family(kept) == family(given)
        else { return read(path) }
        return kept
    }

    /// Returns a code with the nonce of this machine's exchange of it.
    ///
    /// The server accepts a code once, and again only with the same nonce. The nonce is derived
    /// from the code and a secret, which is stored durably before the first use: if the reply is
    /// lost, this machine can repeat the exchange, even after another code was tried.
    func enrolment(of code: String) throws(Failure) -> String {
        let secret = try enrolmentSecret()
        let digest = HMAC<SHA256>.authenticationCode(
            for: Array(code.utf8),
            using: SymmetricKey(data: Array(secret.utf8))
        )
        let nonce = digest.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Self.withNonce(code, nonce)
    }

    /// Returns the stored secret of the exchanges of codes. If there is none, stores a random one.
    private func enrolmentSecret() throws(Failure) -> String {
        if let stored = Self.read(enrolmentPath) { return stored }
        let secret = (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }
            .joined(separator: "-")
        try Self.write(secret, to: enrolmentPath)
        return secret
    }

    /// Returns a credential with the id of its next exchange, by default a random one. Both are
    /// stored, or derived anew for each replay. The server then recognizes a late replay of the
    /// exchange. An exchange by a copy of this machine has another id.
    static func withNonce(
        _ credential: String,
        _ nonce: UInt64 = .random(in: .min ... .max)
    ) -> String {
        "\(credential)~\(String(nonce, radix: 36))"
    }

    /// Returns true if a code is the one that the login comes from.
    func isEnrolled(with code: String) -> Bool {
        token.map { Self.isDevice($0) && Self.family($0) == Self.family(code) } ?? false
    }

    /// Stores the successor of a credential durably. Does nothing if another login has replaced
    /// `old`.
    func replace(_ old: String, with successor: String) throws(Failure) {
        guard token == old else { return }
        try Self.write(successor, to: isWritable ? path : successorPath)
        cached.withLock { if $0 == old { $0 = successor } }
    }

    /// The identity of the token's user; `nil` if there is no token. It only distinguishes users.
    ///
    /// For a device's credential, it contains the device's id. For a JSON Web Token, it is the
    /// `sub` claim, which is not verified: only the server can verify it. For any other token, it
    /// is a hash.
    var identity: String? { token.map(Self.identity(of:)) }

    /// Reads the file again.
    func reload() {
        let token = Self.newest(path, successorPath)
        cached.withLock { $0 = token }
    }

    /// Stores a new token; `nil` removes the stored one.
    func store(_ token: String?) throws(Failure) {
        try requireWritable()
        if let token {
            try Self.write(token, to: path)
        } else if unlink(path) != 0, errno != ENOENT {
            throw .system(String(cString: strerror(errno)))
        }
        cached.withLock { $0 = token }
    }

    static func identity(of token: String) -> String {
        if isDevice(token) {
            // A device always acts for the same user, even after a second enrolment.
            return "device-" + (token.split(separator: ".").dropFirst().first ?? "")
        }
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        if parts.count == 3, let payload = base64URL(parts[1]),
            let claims = try? JSONReader.decode(Claims.self, [UInt8](payload))
        {
            return claims.sub
        }
        // FNV-1a with 64 bits. It has no cryptographic strength, and is stored only in a private
        // folder.
        let hash = token.utf8.reduce(14_695_981_039_346_656_037 as UInt64) {
            ($0 ^ UInt64($1)) &* 1_099_511_628_211
        }
        return "token-" + String(hash, radix: 16)
    }

    private struct Claims: Decodable {
        let sub: String
    }

    private static func base64URL(_ text: Substring) -> Data? {
        var base64 = text.replacing("-", with: "+").replacing("_", with: "/")
        base64 += String(repeating: "=", count: (4 - base64.count % 4) % 4)
        return Data(base64Encoded: String(base64))
    }

    /// The maximum length of a token, in bytes. A longer token is ignored.
    private static let lengthLimit = 16 * 1024

    private static func read(_ path: String) -> String? {
        guard let data = FileManager.default.contents(atPath: path), data.count <= lengthLimit,
            let text = String(data: data, encoding: .utf8)
        else { return nil }
        return usable(text)
    }

    /// Returns the text without surrounding white space; `nil` if it is not valid in a header
    /// (visible ASCII, at most `lengthLimit` bytes).
    static func usable(_ text: String) -> String? {
        let token = text.trimmed
        guard !token.isEmpty, token.utf8.count <= lengthLimit,
            token.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        return token
    }

    /// Writes durably. After a power cut, the file must not hold a credential whose successor was
    /// used: the server treats that credential as stolen.
    private static func write(_ token: String, to path: String) throws(Failure) {
        do throws(DurableFile.Failure) {
            try DurableFile.replace(path, with: Array(token.utf8))
        } catch {
            throw .system(error.reason)
        }
    }
}
