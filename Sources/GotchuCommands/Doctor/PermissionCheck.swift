import CLinux
import Glibc

/// What whoever runs this may ask of gotchud: its socket is for the members of a group.
struct PermissionCheck {
    static let group = "gotchu"

    let userID: UInt32
    /// `nil` when the system has no such group.
    let groupID: UInt32?
    /// Whether this process has the group.
    let isEffective: Bool
    /// Whether the system's databases say that the user has it.
    let isMember: Bool

    /// As it is for this process.
    static var current: PermissionCheck {
        let groupID = UInt32(exactly: clinux_group_id(group))
        return PermissionCheck(
            userID: geteuid(),
            groupID: groupID,
            isEffective: groupID.map { $0 == getegid() || supplementaryGroups.contains($0) }
                ?? false,
            isMember: groupID.map { clinux_user_is_in_group(geteuid(), $0) == 1 } ?? false
        )
    }

    var finding: Finding {
        let layer = "permission"
        guard userID != 0 else { return Finding(layer, .good, "root may do everything") }
        guard groupID != nil else {
            return Finding(
                layer,
                .doubtful,
                "There is no group \(Self.group), so the socket is for root alone.",
                fix: "sudo systemd-sysusers"
            )
        }
        if isEffective { return Finding(layer, .good, "in the group \(Self.group)") }
        return isMember
            ? Finding(
                layer,
                .doubtful,
                "User \(userID) is in the group \(Self.group) since this login began.",
                fix: "newgrp \(Self.group)"
            )
            : Finding(
                layer,
                .doubtful,
                "User \(userID) is not in the group \(Self.group), and may not open the socket.",
                fix: "sudo usermod -aG \(Self.group) USER, and log in again"
            )
    }

    private static var supplementaryGroups: [gid_t] {
        var groups = [gid_t](repeating: 0, count: max(0, Int(getgroups(0, nil))))
        let count = getgroups(Int32(groups.count), &groups)
        return Array(groups.prefix(max(0, Int(count))))
    }
}
