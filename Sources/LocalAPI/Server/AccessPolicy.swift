import CLinux
import GotchuAPI

/// The levels of each peer. They depend only on the credentials that the kernel reports.
package struct AccessPolicy: Equatable, Sendable {
    /// The users with all levels: root and the daemon's own user.
    package var ownerUserIDs: Set<UInt32>
    /// The users who may see the customer's display, in addition to those listed below.
    package var viewerUserIDs: Set<UInt32>
    /// The users who may read, in addition to those listed below.
    package var observerUserIDs: Set<UInt32>
    /// The users who may request money, in addition to the owners and the cashiers' group.
    package var cashierUserIDs: Set<UInt32>
    /// The group whose members may request money.
    package var cashierGroup: String
    private let cashierGroupID: UInt32?
    /// The users who may spend, in addition to the owners. Empty unless configured.
    package var spenderUserIDs: Set<UInt32>

    /// Creates a policy and looks up the group's id. Blocks during the look-up.
    package init(
        ownerUserIDs: Set<UInt32>,
        viewerUserIDs: Set<UInt32> = [],
        observerUserIDs: Set<UInt32> = [],
        cashierUserIDs: Set<UInt32> = [],
        cashierGroup: String,
        spenderUserIDs: Set<UInt32> = []
    ) {
        self.ownerUserIDs = ownerUserIDs
        self.viewerUserIDs = viewerUserIDs
        self.observerUserIDs = observerUserIDs
        self.cashierUserIDs = cashierUserIDs
        self.cashierGroup = cashierGroup
        cashierGroupID = Self.groupID(named: cashierGroup)
        self.spenderUserIDs = spenderUserIDs
    }

    /// The listed users who may use the socket. They may be outside the cashiers' group.
    var socketUserIDs: Set<UInt32> {
        observerUserIDs.union(cashierUserIDs).union(spenderUserIDs)
    }

    /// Returns the peer's levels if they are known without the system's group database; otherwise
    /// `nil`.
    func knownLevels(of peer: Peer) -> Set<AccessLevel>? {
        let isKnown =
            ownerUserIDs.contains(peer.userID) || cashierUserIDs.contains(peer.userID)
            || cashierGroupID == nil || peer.groupID == cashierGroupID
        return isKnown ? levels(of: peer) : nil
    }

    /// Returns the peer's levels; an unknown user has none. Blocks if it must read the system's
    /// group database.
    package func levels(of peer: Peer) -> Set<AccessLevel> {
        if ownerUserIDs.contains(peer.userID) { return Set(AccessLevel.allCases) }
        var levels: Set<AccessLevel> = []
        if cashierUserIDs.contains(peer.userID) || isInCashierGroup(peer) {
            levels.insert(.cashier)
        }
        if spenderUserIDs.contains(peer.userID) { levels.insert(.spender) }
        if !levels.isEmpty || observerUserIDs.contains(peer.userID) { levels.insert(.observer) }
        if !levels.isEmpty || viewerUserIDs.contains(peer.userID) { levels.insert(.viewer) }
        return levels
    }

    /// Returns the problem for a peer that lacks a level. Its fix says how to get the level.
    func refusal(of level: AccessLevel, to peer: Peer) -> Problem {
        let join = cashierGroupID.map { _ in "sudo usermod -aG \(cashierGroup) USER" }
        let fix =
            switch level {
            case .viewer: Self.listing(in: "viewer_uids")
            // The entrance refuses before a route is known, so each level is named with its use.
            case .observer:
                join
                    ?? Self.listing(
                        in: "cashier_uids (to request), spender_uids (to pay) or observer_uids "
                            + "(to read)"
                    )
            case .cashier: join ?? Self.listing(in: "cashier_uids")
            case .spender: Self.listing(in: "spender_uids")
            case .owner: "Run it again with sudo."
            }
        let user = peer.userID
        return Problem(
            .notPermitted,
            detail: level == .observer || level == .viewer
                ? "User id \(user) may not use gotchud: it is not in the group \(cashierGroup), "
                    + "and gotchud.json does not list it."
                : "This needs the level '\(level.rawValue)', which user id \(user) does not have.",
            fix: fix
        )
    }

    private static func listing(in key: String) -> String {
        "Add the user id to \(key) in /etc/gotchu/gotchud.json, and: "
            + "sudo systemctl reload gotchud"
    }

    private func isInCashierGroup(_ peer: Peer) -> Bool {
        guard let cashierGroupID else { return false }
        return peer.groupID == cashierGroupID
            || clinux_user_is_in_group(peer.userID, cashierGroupID) == 1
    }

    /// Returns the id of a user by name; `nil` if the system has no such user. May block.
    package static func userID(named name: String) -> UInt32? {
        UInt32(exactly: clinux_user_id(name))
    }

    /// Returns the id of a group by name; `nil` if the system has no such group. May block.
    package static func groupID(named name: String) -> UInt32? {
        UInt32(exactly: clinux_group_id(name))
    }
}
