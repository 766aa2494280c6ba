internal import TestSupport

/// A generator of short random stories. Two thirds of the steps continue the previous step: a
/// lock after a session, a payment after a lock, a resend or a refund after a payment. Without this
/// few stories would reach a payment.
package struct StoryTeller {
    private var generator: SeededGenerator
    private var time: Int64 = 0
    private var made = 0
    private var last: Step.Action?
    /// The payee of each session, by the session's number.
    private var payees: [Int] = []

    package init(seed: UInt64) {
        generator = SeededGenerator("A story teller", seed: seed)
    }

    package mutating func story() -> [Step] {
        (time, made, last, payees) = (1_000, 0, nil, [])
        return (0..<number(4...11)).map { _ in
            time += Self.waits[Int(number(0...Int64(Self.waits.count - 1)))]
            let action = number(0...99) < 67 ? next() : anything()
            last = action
            return Step(time: time, action: action)
        }
    }

    /// The waits in milliseconds. They include the last moment before the end of a lock or of a
    /// short session, and the end itself.
    private static let waits: [Int64] = [
        0, 0, 0, 0, 0, 1, 1, 500, 999, 1_000, 29_000, 59_999, 60_000, 60_001,
    ]

    private mutating func next() -> Step.Action {
        switch last {
        case .create(let session, let payee, _, _, _, _):
            return .lock(session: session, user: (payee + Int(number(1...2))) % 3)
        case .lock(let session, let user):
            // Some payers try to pay what another one has locked.
            return send(session, number(0...3) == 0 ? Int(number(0...2)) : user)
        case .send(let session, let user, let key, let expected, let tip):
            if number(0...2) == 0 { return refund(session) }
            return .send(session: session, user: user, key: key, expected: expected, tip: tip)
        case .refund(let session, let user, let key, let amount):
            if number(0...2) == 0 { return refund(session) }
            return .refund(session: session, user: user, key: key, amount: amount)
        case .unlock(let session, _), .cancel(let session, _), .expire(let session):
            return send(session, Int(number(0...2)))
        case .rotate(let session, let user, _, _):
            return rotate(session, user)
        case .open, .shared, nil:
            return create() ?? anything()
        }
    }

    private mutating func anything() -> Step.Action {
        let session = Int(number(0...Int64(min(3, made))))
        let user = Int(number(0...2))
        switch number(0...99) {
        case 0..<4: return .open(user: user)
        case 4..<30: return create() ?? .lock(session: session, user: user)
        case 30..<50: return .lock(session: session, user: user)
        case 50..<58: return .unlock(session: session, user: user)
        case 58..<64: return .cancel(session: session, user: user)
        case 64..<69: return .expire(session: session)
        case 69..<77: return rotate(session, user)
        case 77..<82: return refund(session)
        default: return send(session, user)
        }
    }

    private mutating func create() -> Step.Action? {
        guard made < 4 else { return nil }
        made += 1
        payees.append(Int(number(0...2)))
        return .create(
            session: made - 1,
            payee: payees[made - 1],
            amount: number(1...12),
            seconds: [1, 30, 60, 61, 300][Int(number(0...4))],
            proposesTaken: number(0...3) == 0,
            allowsTip: number(0...1) == 0
        )
    }

    private mutating func send(_ session: Int, _ user: Int) -> Step.Action {
        let expected = number(0...5) == 0 ? number(1...12) : nil
        return .send(
            session: session,
            user: user,
            key: Int(number(0...2)),
            expected: expected,
            tip: number(0...2) == 0 ? number(1...3) : 0
        )
    }

    /// Returns a refund, mostly by the payee.
    private mutating func refund(_ session: Int) -> Step.Action {
        let isPayee = number(0...5) > 0 && session < payees.count
        return .refund(
            session: session,
            user: isPayee ? payees[session] : Int(number(0...2)),
            key: Int(number(0...2)),
            amount: number(0...2) == 0 ? nil : number(1...12)
        )
    }

    /// Returns a rotation. Half of the rotations replace the EID that the session was probably
    /// created with.
    private mutating func rotate(_ session: Int, _ user: Int) -> Step.Action {
        let last = Int64(Cast.eids.count - 1)
        let replaces: Int? =
            switch number(0...3) {
            case 0: nil
            case 1: Int(number(0...last))
            default: session
            }
        return .rotate(
            session: session,
            user: user,
            eid: Int(number(0...last)),
            replaces: replaces
        )
    }

    private mutating func number(_ range: ClosedRange<Int64>) -> Int64 {
        Int64.random(in: range, using: &generator)
    }
}
