package import GotchuCore

/// The rows that a batch of commands may read or change; a store loads only these.
package struct Footprint: Equatable, Sendable {
    package var names: Set<String> = []
    package var users: Set<UserID> = []
    /// The records to lock.
    package var records: Set<RecordID> = []
    /// The records to lock with all of their children. No child is missed, because a child is added
    /// under its parent's lock.
    package var children: Set<RecordID> = []
    /// The owners whose accounts to lock, in every currency.
    package var owners: Set<Account.Owner> = []
    /// The records among `records` whose owners' accounts are locked too, with the `take` accounts
    /// of these owners. A command that knows only a record's id then needs just one round.
    package var ownedRecords: Set<RecordID> = []
    /// The groups whose records with a row in `due` must be counted.
    package var dueGroups: Set<RecordGroup> = []
    package var answers: Set<Answer.Key> = []
    /// A Boolean that is true if the newest seal of all chains must be loaded.
    package var needsNewestSeal = false
    /// A Boolean that is true if the command needs another round once this is loaded. Accounts are
    /// loaded only in the last round: records are always locked before accounts.
    package var needsAnotherRound = false

    package init() {}

    /// The maximum number of loading rounds.
    package static let roundLimit = 4

    /// Returns the rows of this footprint that are not in that of an earlier round. In the last
    /// round names stay included: they are locked then, so that no other transaction claims them.
    package func subtracting(_ other: Footprint) -> Footprint {
        var rest = self
        if needsAnotherRound { rest.names.subtract(other.names) }
        rest.users.subtract(other.users)
        rest.records.subtract(other.records)
        rest.children.subtract(other.children)
        rest.dueGroups.subtract(other.dueGroups)
        rest.answers.subtract(other.answers)
        rest.needsNewestSeal = needsNewestSeal && !other.needsNewestSeal
        return rest
    }
}

/// The rows of a footprint: as loaded, or as changed by the batch's commands so far.
package struct Snapshot: Equatable, Sendable {
    package var names: [String: Name] = [:]
    package var users: [UserID: User] = [:]
    package var records: [RecordID: Record] = [:]
    /// The children of the records whose children were loaded, by number.
    package var children: [RecordID: [Int64: RecordID]] = [:]
    package var accounts: [Account.Key: Account] = [:]
    /// The number of records in each group that have a row in `due`.
    package var dueCounts: [RecordGroup: Int] = [:]
    package var answers: [Answer.Key: Answer] = [:]
    /// The newest seal of all chains, if it was requested; `Seal.origin` if there is none.
    package var newestSeal: Seal?
    /// The records, owners and names whose rows were not loaded because another transaction holds
    /// their locks.
    package var lockedElsewhere = Footprint()

    package init() {}

    /// Returns true if the user's row or an account of the user was loaded. Every user has an
    /// account.
    package func knows(_ user: UserID) -> Bool {
        users[user] != nil
            || Currency.allCases.contains { accounts[Account.Key(.user(user), $0)] != nil }
    }

    /// Returns true if another transaction has locked a row that the command needs.
    func blocks(_ submission: any Submission) -> Bool {
        guard lockedElsewhere != Footprint() else { return false }
        var footprint = Footprint()
        submission.touch(&footprint, knowing: self)
        for parent in footprint.children {
            footprint.records.insert(parent)
            footprint.records.formUnion(children[parent, default: [:]].values)
        }
        let owners = footprint.ownedRecords.compactMap { records[$0] }.flatMap(\.accountOwners)
        return !lockedElsewhere.records.isDisjoint(with: footprint.records)
            || !lockedElsewhere.owners.isDisjoint(with: footprint.owners.union(owners))
            || !lockedElsewhere.names.isDisjoint(with: footprint.names)
    }
}

/// The rows that a batch writes, each in its final state; nothing else is written.
package struct Effects: Equatable, Sendable {
    package var newUsers: [User] = []
    /// The users whose terms changed, sorted by id.
    package var changedUsers: [User] = []
    /// The claimed names, sorted by text.
    package var names: [Name] = []
    /// The released names. Their rows may not have been loaded; only their records are.
    package var releasedNames: [Name] = []
    /// The new and changed records, sorted by id.
    package var records: [Record] = []
    package var children: [Child] = []
    /// The new and changed accounts, sorted by key.
    package var accounts: [Account] = []
    package var transfers: [Transfer] = []
    /// The users who were paid, one for each payment. They are not stored.
    var paidUsers: [UserID] = []
    /// The users who made refunds, one for each refund. They are not stored.
    var refundingUsers: [UserID] = []
    package var answers: [Answer] = []
    package var events: [Event] = []
    /// The seal of the transfers, if there are any.
    package var seal: Seal?
    package var probedAt: Timestamp?

    package init() {}

    package var isEmpty: Bool { self == Effects() }
}
