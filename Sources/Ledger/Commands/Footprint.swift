package import GotchuCore

/// The rows that a batch of commands may touch; a store loads these and no others.
package struct Footprint: Equatable, Sendable {
    package var names: Set<String> = []
    package var users: Set<UserID> = []
    /// Records, which are locked.
    package var records: Set<RecordID> = []
    /// Records that are locked with all of their children. A child is added under its parent's
    /// lock, so that none is missed.
    package var children: Set<RecordID> = []
    /// Owners whose accounts are locked, in every currency.
    package var owners: Set<Account.Owner> = []
    /// Records, among `records`, whose owners' accounts are locked too, and the house's for its
    /// part, so that a command that knows only a record's id is loaded in one round.
    package var ownedRecords: Set<RecordID> = []
    /// Groups whose records with a row in `due` must be counted.
    package var dueGroups: Set<RecordGroup> = []
    package var answers: Set<Answer.Key> = []
    /// A Boolean that is true if the newest seal of all must be loaded.
    package var needsNewestSeal = false
    /// A Boolean that is true if the command needs another round once this is loaded. Accounts are
    /// loaded in the last round only: rows are locked records first, then accounts.
    package var asksAgain = false

    package init() {}

    /// The largest number of rounds of loading.
    package static let roundLimit = 4

    /// Returns the rows of this footprint that are not in another, of an earlier round. Names are
    /// locked in the last round, so that nobody else claims them.
    package func subtracting(_ other: Footprint) -> Footprint {
        var rest = self
        if asksAgain { rest.names.subtract(other.names) }
        rest.users.subtract(other.users)
        rest.records.subtract(other.records)
        rest.children.subtract(other.children)
        rest.dueGroups.subtract(other.dueGroups)
        rest.answers.subtract(other.answers)
        rest.needsNewestSeal = needsNewestSeal && !other.needsNewestSeal
        return rest
    }
}

/// The rows of a footprint: as loaded, or within a batch as its commands have left them.
package struct Snapshot: Equatable, Sendable {
    package var names: [String: Name] = [:]
    package var users: [UserID: User] = [:]
    package var records: [RecordID: Record] = [:]
    /// The children of the records whose children were loaded, by number.
    package var children: [RecordID: [Int64: RecordID]] = [:]
    package var accounts: [Account.Key: Account] = [:]
    /// The numbers of records that have a row in `due`.
    package var dueCounts: [RecordGroup: Int] = [:]
    package var answers: [Answer.Key: Answer] = [:]
    /// The newest seal of all, if it was requested; `Seal.origin` if there is none.
    package var newestSeal: Seal?
    /// Records, owners and names whose rows were not loaded: another transaction holds them.
    package var held = Footprint()

    package init() {}

    /// Returns true if the user exists, as far as the user's row or account was loaded. No user is
    /// inserted without an account.
    package func knows(_ user: UserID) -> Bool {
        users[user] != nil
            || Currency.allCases.contains { accounts[Account.Key(.user(user), $0)] != nil }
    }

    /// Returns true if another transaction holds a row that the command needs.
    func holdsBack(_ submission: any Submission) -> Bool {
        guard held != Footprint() else { return false }
        var footprint = Footprint()
        submission.touch(&footprint, knowing: self)
        for parent in footprint.children {
            footprint.records.insert(parent)
            footprint.records.formUnion(children[parent, default: [:]].values)
        }
        let owners = footprint.ownedRecords.compactMap { records[$0] }.flatMap(\.accountOwners)
        return !held.records.isDisjoint(with: footprint.records)
            || !held.owners.isDisjoint(with: footprint.owners.union(owners))
            || !held.names.isDisjoint(with: footprint.names)
    }
}

/// The rows that a batch writes, each in its last state; nothing else is written.
package struct Effects: Equatable, Sendable {
    package var newUsers: [User] = []
    /// Users with other terms, in the order of their ids.
    package var changedUsers: [User] = []
    /// Names that were claimed, in the order of their texts.
    package var names: [Name] = []
    /// Names with another end, which need not be loaded: their records were.
    package var endedNames: [Name] = []
    /// New and changed records, in the order of their ids.
    package var records: [Record] = []
    package var children: [Child] = []
    /// New and changed accounts, in the order of their keys.
    package var accounts: [Account] = []
    package var transfers: [Transfer] = []
    package var answers: [Answer] = []
    package var events: [Event] = []
    /// The seal of the transfers, if there are any.
    package var seal: Seal?
    package var probedAt: Timestamp?

    package init() {}

    package var isEmpty: Bool { self == Effects() }
}
