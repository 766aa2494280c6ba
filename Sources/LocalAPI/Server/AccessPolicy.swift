import CLinux

/// Decides what a peer may do, from its kernel credentials alone.
package struct AccessPolicy: Equatable, Sendable {
    /// Root and the daemon's own user: they can do anything to it anyway.
    package var ownerUserIDs: Set<UInt32>
    /// Who may ask for money, beside owners and the cashiers' group.
    package var cashierUserIDs: Set<UInt32>
    /// The group whose members may ask for money.
    package var cashierGroupID: UInt32?
    /// Who may spend, beside root. Empty unless configured.
    package var spenderUserIDs: Set<UInt32>

    package init(
        ownerUserIDs: Set<UInt32>,
        cashierUserIDs: Set<UInt32> = [],
        cashierGroupID: UInt32? = nil,
        spenderUserIDs: Set<UInt32> = []
    ) {
        self.ownerUserIDs = ownerUserIDs
        self.cashierUserIDs = cashierUserIDs
        self.cashierGroupID = cashierGroupID
        self.spenderUserIDs = spenderUserIDs
    }

    /// Everything the peer may do. May read the system's group database: it blocks for a moment.
    package func levels(of peer: Peer) -> Set<AccessLevel> {
        if ownerUserIDs.contains(peer.userID) { return Set(AccessLevel.allCases) }
        var levels: Set<AccessLevel> = [.observer]
        if cashierUserIDs.contains(peer.userID) || isInCashierGroup(peer) {
            levels.insert(.cashier)
        }
        if spenderUserIDs.contains(peer.userID) { levels.insert(.spender) }
        return levels
    }

    private func isInCashierGroup(_ peer: Peer) -> Bool {
        guard let cashierGroupID else { return false }
        return peer.groupID == cashierGroupID
            || clinux_user_is_in_group(peer.userID, cashierGroupID) == 1
    }

    /// The id of a group by its name, or `nil` when the system has none such.
    package static func groupID(named name: String) -> UInt32? {
        UInt32(exactly: clinux_group_id(name))
    }
}
