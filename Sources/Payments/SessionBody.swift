package import GotchuCore
package import Ledger

extension Session {
    /// The data for which the record has no column. Times are in milliseconds.
    ///
    /// Sessions are read and written with every payment, so their JSON is written and parsed by
    /// hand. Parsing is strict: members in the order in which they are written, no duplicates, no
    /// unknown members, no `5.0` for an integer.
    package struct Body: Equatable, Sendable {
        package let amount: Int64
        package let currency: Currency
        package let eid: String
        package let expiresAt: Int64
        /// The group, if it is a share.
        package let group: String?
        let lockedUntil: Int64?
        package let memo: String?
        package let paidAt: Int64?
        package let payer: UserID?
        /// With `group`: the place.
        package let place: Int64?
        /// With `stake`: the record of the pot.
        package let pot: String?
        package let reference: String?
        package let refunded: Int64
        /// With `stake`: 1 once the pot has returned the money.
        let returned: Int64?
        let rotations: Int64
        /// The step of the transfer that put its money into a pot.
        let stake: String?
        let take: Int64?
        package let tip: Int64?
    }
}

extension Session.Body {
    /// Reads a stored body, with all of its members and no others.
    ///
    /// - Throws: `LedgerError` with `corrupt`.
    package init(_ json: String) throws(LedgerError) {
        var members = Members(json)
        amount = try Self.required(members.integer("amount"))
        currency = try Self.required(
            members.text("currency").flatMap(Currency.init(rawValue:))
        )
        eid = try Self.required(members.text("eid"))
        expiresAt = try Self.required(members.integer("expiresAt"))
        group = members.text("group")
        lockedUntil = members.integer("lockedUntil")
        memo = members.text("memo")
        paidAt = members.integer("paidAt")
        payer = members.text("payer").map(UserID.init(trusted:))
        place = members.integer("place")
        pot = members.text("pot")
        reference = members.text("reference")
        refunded = try Self.required(members.integer("refunded"))
        returned = members.integer("returned")
        rotations = try Self.required(members.integer("rotations"))
        stake = members.text("stake")
        take = members.integer("take")
        tip = members.integer("tip")
        guard members.isEmpty else { throw Self.corrupt }
    }

    private static let corrupt = LedgerError.corrupt("a session's body")

    private static func required<Value>(_ member: Value?) throws(LedgerError) -> Value {
        guard let member else { throw corrupt }
        return member
    }

    /// The stored form: members sorted by name, absent ones omitted.
    package var json: String {
        var text = TextBuilder(capacity: 256)
        text.add(#"{"amount":"#)
        text.add(Int(amount))
        text.add(#","currency":"#)
        text.add(json: currency.rawValue)
        text.add(#","eid":"#)
        text.add(json: eid)
        text.add(#","expiresAt":"#)
        text.add(Int(expiresAt))
        text.add(#","group":"#, group)
        text.add(#","lockedUntil":"#, lockedUntil)
        text.add(#","memo":"#, memo)
        text.add(#","paidAt":"#, paidAt)
        text.add(#","payer":"#, payer?.rawValue)
        text.add(#","place":"#, place)
        text.add(#","pot":"#, pot)
        text.add(#","reference":"#, reference)
        text.add(#","refunded":"#)
        text.add(Int(refunded))
        text.add(#","returned":"#, returned)
        text.add(#","rotations":"#)
        text.add(Int(rotations))
        text.add(#","stake":"#, stake)
        text.add(#","take":"#, take)
        text.add(#","tip":"#, tip)
        text.add(UInt8(ascii: "}"))
        return text.text
    }
}

/// The members of a body, popped in order. If the next member has another name or type than
/// requested, no member is popped.
private struct Members {
    private var rest: ArraySlice<(name: String, value: JSONValue)>
    /// A Boolean that is true if no member is left.
    var isEmpty: Bool { rest.isEmpty }

    init(_ json: String) {
        rest = ((try? JSONReader.members(Array(json.utf8))) ?? [])[...]
    }

    mutating func text(_ name: String) -> String? {
        guard rest.first?.name == name, case .string(let text) = rest.first?.value else {
            return nil
        }
        rest.removeFirst()
        return text
    }

    mutating func integer(_ name: String) -> Int64? {
        guard rest.first?.name == name, case .integer(let integer) = rest.first?.value else {
            return nil
        }
        rest.removeFirst()
        return integer
    }
}

extension TextBuilder {
    fileprivate mutating func add(_ name: String, _ number: Int64?) {
        guard let number else { return }
        add(name)
        add(Int(number))
    }

    fileprivate mutating func add(_ name: String, _ text: String?) {
        guard let text else { return }
        add(name)
        add(json: text)
    }
}
