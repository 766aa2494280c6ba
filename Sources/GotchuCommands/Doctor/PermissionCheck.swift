import CLinux
import Glibc

/// What whoever runs this may ask of gotchud: its socket is for the members of a group.
struct PermissionCheck {
    private static let usualGroup = "gotchu"

    let userID: UInt32
    /// `nil` when the system has no such group.
    let groupID: UInt32?
    /// Whether this process has the group.
    let isEffective: Bool
    /// Whether the system's databases say that the user has it.
    let isMember: Bool
    /// The group's name.
    var group = usualGroup

    /// As it is for this process: with the group that the socket has, or will have as a rule.
    static func current(socketPath: String) -> PermissionCheck {
        let socketGroup = Self.group(of: socketPath)
        let group = socketGroup?.name ?? usualGroup
        let groupID = socketGroup?.id ?? UInt32(exactly: clinux_group_id(usualGroup))
        return PermissionCheck(
            userID: geteuid(),
            groupID: groupID,
            isEffective: groupID.map { $0 == getegid() || supplementaryGroups.contains($0) }
                ?? false,
            isMember: groupID.map { clinux_user_is_in_group(geteuid(), $0) == 1 } ?? false,
            group: group
        )
    }

    /// The group that a daemon has opened its socket to. Root's is nobody's else.
    private static func group(of socketPath: String) -> (id: UInt32, name: String)? {
        var status = stat()
        guard stat(socketPath, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK,
            status.st_mode & S_IWGRP != 0, status.st_gid != 0, let entry = getgrgid(status.st_gid)
        else { return nil }
        return (status.st_gid, String(cString: entry.pointee.gr_name))
    }

    var finding: Finding {
        let layer = "permission"
        guard userID != 0 else { return Finding(layer, .good, "root may do everything") }
        guard groupID != nil else {
            return Finding(
                layer,
                .doubtful,
                "There is no group \(group), so the socket is for root alone.",
                fix: "sudo systemd-sysusers"
            )
        }
        if isEffective { return Finding(layer, .good, "in the group \(group)") }
        return isMember
            ? Finding(
                layer,
                .doubtful,
                "User \(userID) is in the group \(group) since this login began.",
                fix: "newgrp \(group)"
            )
            : Finding(
                layer,
                .doubtful,
                "User \(userID) is not in the group \(group), and may not open the socket.",
                fix: "sudo usermod -aG \(group) USER, and log in again"
            )
    }

    private static var supplementaryGroups: [gid_t] {
        var groups = [gid_t](repeating: 0, count: max(0, Int(getgroups(0, nil))))
        let count = getgroups(Int32(groups.count), &groups)
        return Array(groups.prefix(max(0, Int(count))))
    }
}
