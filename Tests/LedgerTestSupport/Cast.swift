package import GotchuCore
package import Ledger

/// The few users, sessions and keys of a property test, by number: a small world meets itself
/// often.
package enum Cast {
    package static let users = (0..<3).map { UserID(trusted: "user-\($0)") }
    package static let wallets = (0..<3).map { WalletID(trusted: "wallet-\($0)") }
    package static let mint = WalletID(trusted: "wallet-mint")
    package static let sessions = (0..<4).compactMap { SessionID(rawValue: "session-\($0)") }
    package static let keys = (0..<3).compactMap {
        IdempotencyKey(rawValue: "key-0123456789-\($0)")
    }
    package static let eids = (0..<10).compactMap { EID("000000000\($0)") }
    /// The first four are those that sessions are made with.
    package static func eid(_ eid: EID) -> Int { eids.firstIndex(of: eid) ?? -1 }
    package static let opening: Int64 = 10

    package static func openWallet(_ user: Int) -> OpenWallet {
        OpenWallet(
            email: "user\(user)@example.org",
            displayName: "user\(user)",
            opening: Money(minorUnits: opening),
            user: users[user],
            wallet: wallets[user],
            mint: mint,
            transfer: TransferID(trusted: "opening-\(user)")
        )
    }

    /// A session of the first user's, as it was after so many changes.
    package static func session(version: Int64, _ state: Session.State = .advertising) -> Session {
        Session(
            id: sessions[0],
            eid: eids[0],
            payee: users[0],
            amount: Money(minorUnits: 1),
            memo: nil,
            reference: nil,
            createdAt: Timestamp(milliseconds: 0),
            expiresAt: Timestamp(milliseconds: 1_000),
            state: state,
            version: version
        )
    }

    package static func fingerprint(session: Int, expected: Int64?) -> Fingerprint {
        let bytes = [UInt8(session), UInt8(truncatingIfNeeded: expected ?? -1)]
        guard let print = Fingerprint(bytes: bytes + [UInt8](repeating: 0, count: 30)) else {
            preconditionFailure("32 bytes")
        }
        return print
    }
}
