internal import GotchuCore
package import Ledger

/// One command of a property test in small numbers, so that a failing sequence can be read.
package struct Step: Sendable {
    package enum Action: Sendable {
        case open(user: Int)
        /// `proposesTaken`: the first EID proposed is an earlier session's.
        case create(session: Int, payee: Int, amount: Int64, seconds: Int64, proposesTaken: Bool)
        case lock(session: Int, user: Int)
        case unlock(session: Int, user: Int)
        case cancel(session: Int, user: Int)
        /// EIDs by their numbers in the cast.
        case rotate(session: Int, user: Int, eid: Int, replaces: Int?)
        case send(session: Int, user: Int, key: Int, expected: Int64?)
        case refund(session: Int, user: Int, key: Int, amount: Int64?)
        case expire(session: Int)
    }

    /// Milliseconds since the test began.
    package let time: Int64
    package let action: Action

    package init(time: Int64, action: Action) {
        self.time = time
        self.action = action
    }

    /// The command that the ledger gets. `number` makes the names of what may have to be made.
    package func command(number: Int) -> Command {
        Command(acceptedAt: Timestamp(milliseconds: time), action: ledgerAction(number))
    }

    private func ledgerAction(_ number: Int) -> Command.Action {
        switch action {
        case .open(let user):
            return .openWallet(Cast.openWallet(user))
        case .create(let session, let payee, let amount, let seconds, let proposesTaken):
            let own = Cast.eids[session]
            return .createSession(
                CreateSession(
                    id: Cast.sessions[session],
                    payee: Cast.users[payee],
                    amount: Money(minorUnits: amount),
                    memo: nil,
                    reference: nil,
                    lifetime: .seconds(seconds),
                    eids: proposesTaken ? [Cast.eids[max(0, session - 1)], own] : [own]
                )
            )
        case .lock(let session, let user):
            return .lock(LockSession(session: Cast.sessions[session], payer: Cast.users[user]))
        case .unlock(let session, let user):
            return .unlock(UnlockSession(session: Cast.sessions[session], payer: Cast.users[user]))
        case .cancel(let session, let user):
            return .cancel(CancelSession(session: Cast.sessions[session], payee: Cast.users[user]))
        case .rotate(let session, let user, let eid, let replaces):
            return .rotate(
                RotateEID(
                    session: Cast.sessions[session],
                    payee: Cast.users[user],
                    replaced: replaces.map { Cast.eids[$0] },
                    eids: [Cast.eids[eid]]
                )
            )
        case .send(let session, let user, let key, let expected):
            return .send(
                Send(
                    key: SendKey(user: Cast.users[user], key: Cast.keys[key]),
                    fingerprint: Cast.fingerprint(session: session, expected: expected),
                    session: Cast.sessions[session],
                    expectedAmount: expected,
                    transfer: TransferID(trusted: "transfer-\(number)"),
                    requestID: "request-\(number)"
                )
            )
        case .refund(let session, let user, let key, let amount):
            return .refund(
                Refund(
                    key: SendKey(user: Cast.users[user], key: Cast.keys[key]),
                    fingerprint: Cast.fingerprint(session: session, expected: amount),
                    session: Cast.sessions[session],
                    amount: amount,
                    transfer: TransferID(trusted: "refund-\(number)"),
                    requestID: "request-\(number)"
                )
            )
        case .expire(let session):
            return .expire(Cast.sessions[session])
        }
    }
}
