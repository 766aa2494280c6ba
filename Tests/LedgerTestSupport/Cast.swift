package import GotchuCore
package import Ledger

@testable package import Payments

/// The users, sessions, keys and EIDs of property tests, by number. They are few, so that commands
/// often conflict.
package enum Cast {
    package static let users = (0..<3).map { UserID(trusted: "user-\($0)") }
    package static let mint = Account.Key(.house(.developmentMint), .usd)
    package static let sessions = (0..<4).compactMap { SessionID(rawValue: "session-\($0)") }
    package static let keys = (0..<3).compactMap {
        IdempotencyKey(rawValue: "key-0123456789-\($0)")
    }
    package static let eids = (0..<10).compactMap { EID("000000000\($0)") }
    package static let opening: Int64 = 10

    /// Returns the number of an EID; -1 for an unknown EID. Sessions are created with the first
    /// four EIDs.
    package static func eid(_ eid: EID) -> Int { eids.firstIndex(of: eid) ?? -1 }

    /// Returns the group of a user's sessions.
    package static func sessions(of user: UserID) -> RecordGroup {
        RecordGroup(owner: user, kind: Session.kind)
    }

    package static func account(_ user: Int) -> Account.Key {
        Account.Key(.user(users[user]), .usd)
    }

    package static func openAccount(_ user: Int) -> OpenAccount {
        OpenAccount(
            login: "user\(user)@example.org",
            displayName: "user\(user)",
            opening: Money(minorUnits: opening),
            user: users[user]
        )
    }

    /// Returns the first session, of the first user, in a given version.
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

    /// Returns the record of the first session in a given version.
    package static func record(version: Int64, _ state: Session.State = .advertising) -> Record {
        session(version: version, state).record
    }

    /// Returns a request whose fingerprint depends on a session, an amount and a tip.
    package static func request(
        user: Int,
        key: Int,
        session: Int,
        amount: Int64?,
        tip: Int64 = 0,
        id: String
    ) -> KeyedRequest {
        KeyedRequest(
            user: users[user],
            key: keys[key],
            fingerprint: fingerprint(session: session, expected: amount, tip: tip),
            id: id
        )
    }

    package static func fingerprint(
        session: Int,
        expected: Int64?,
        tip: Int64 = 0
    ) -> Fingerprint {
        let bytes = [expected ?? -1, tip].map { UInt8(truncatingIfNeeded: $0) }
        let rest = [UInt8](repeating: 0, count: 29)
        guard let print = Fingerprint(bytes: [UInt8(session)] + bytes + rest) else {
            preconditionFailure("32 bytes")
        }
        return print
    }
}
