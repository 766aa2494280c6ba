import CLinux
import Glibc
import LocalAPI
import Logging
import PaymentClient
import ServiceProcess

/// The users, groups and files that a configuration names, checked on this system.
extension DaemonConfiguration {
    /// Logs a warning for each setting that is not safe, and for each that has no effect now but
    /// may have one later.
    func warn(of environment: [String: String], _ logger: Logger) {
        for name in Self.unknownVariables(in: environment) {
            logger.warning("There is no setting with this name", metadata: ["variable": "\(name)"])
        }
        if !server.isPrivate {
            logger.warning(
                "The server is called without encryption, so others may read the token: use https",
                metadata: ["server": "\(server)"]
            )
        }
        // The default group may be missing, for example in a trial run. Any other missing group is
        // reported.
        if AccessPolicy.groupID(named: group) == nil, group != Self.defaultGroup {
            logger.warning(
                "There is no such group: only listed users may request payments",
                metadata: ["group": "\(group)"]
            )
        }
        let listed = [viewerUserIDs, observerUserIDs, cashierUserIDs, spenderUserIDs]
        for userID in Set(listed.joined()).sorted()
        where getpwuid(userID) == nil {
            logger.warning("A user id is listed that no user has", metadata: ["uid": "\(userID)"])
        }
        if let tokenFile, Self.mode(of: tokenFile).map({ $0 & S_IROTH != 0 }) == true {
            logger.warning(
                "Others may read the token file: chmod o-r",
                metadata: ["path": "\(tokenFile)"]
            )
        }
    }

    /// Throws if the token file is missing. The daemon itself starts without it and reports the
    /// problem.
    func requireTokenFile() throws(ConfigurationError) {
        guard let tokenFile else { return }
        // The check may run as another user than the daemon. That user may have no access to the
        // file.
        let isMissing = access(tokenFile, F_OK) != 0 && errno != EACCES
        let isFolder = Self.mode(of: tokenFile).map { $0 & S_IFMT == S_IFDIR } ?? false
        guard !isMissing, !isFolder else {
            throw ConfigurationError(
                place: "token_file",
                problem: "There is no file \(tokenFile)."
            )
        }
    }

    /// A file's type and permissions; `nil` if it cannot be examined.
    static func mode(of path: String) -> mode_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode : nil
    }
}
