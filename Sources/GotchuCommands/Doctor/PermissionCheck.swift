import CLinux
import Glibc

/// Checks the current user's access. Members of the group may request money; other users have the
/// levels that gotchud.json gives them.
struct PermissionCheck {
    private static let defaultGroup = "gotchu"

    let userID: UInt32
    /// The group's id; `nil` if the system has no such group.
    let groupID: UInt32?
    /// A Boolean that is true if gotchud counts the user as a member.
    let isMember: Bool
    /// The group's name.
    var group = defaultGroup

    /// Returns the check of this process. If the socket's group is unknown, the default group is
    /// used.
    static func current(socketPath: String) -> PermissionCheck {
        let socketGroup = Self.group(of: socketPath)
        let group = socketGroup?.name ?? defaultGroup
        let groupID = socketGroup?.id ?? UInt32(exactly: clinux_group_id(defaultGroup))
        return PermissionCheck(
            userID: geteuid(),
            groupID: groupID,
            isMember: groupID.map {
                $0 == getegid() || clinux_user_is_in_group(geteuid(), $0) == 1
            } ?? false,
            group: group
        )
    }

    /// Returns the group that may use the socket; `nil` if it is root's or has no access.
    private static func group(of socketPath: String) -> (id: UInt32, name: String)? {
        var status = stat()
        guard stat(socketPath, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK,
            status.st_mode & S_IWGRP != 0, status.st_gid != 0, let entry = getgrgid(status.st_gid)
        else { return nil }
        return (status.st_gid, String(cString: entry.pointee.gr_name))
    }

    var finding: Finding {
        let layer = "permission"
        guard userID != 0 else { return .good(layer, "root may do everything") }
        guard groupID != nil else {
            return .doubtful(
                layer,
                "There is no group \(group): root and listed users alone may use gotchud.",
                fix: "sudo systemd-sysusers"
            )
        }
        if isMember { return .good(layer, "in the group \(group)") }
        return .doubtful(
            layer,
            "User \(userID) is not in the group \(group): it may do only what gotchud.json allows.",
            fix: "sudo usermod -aG \(group) USER"
        )
    }
}
