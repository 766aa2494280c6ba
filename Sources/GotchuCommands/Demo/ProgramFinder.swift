import FoundationEssentials
import Glibc

/// Finds gotchud and gotchu-server beside gotchu-ctl.
enum ProgramFinder {
    /// The folder of this process's own executable.
    static func ownFolder() throws -> String {
        let link = "/proc/self/exe"
        guard let path = try? FileManager.default.destinationOfSymbolicLink(atPath: link),
            let slash = path.lastIndex(of: "/")
        else {
            throw CommandFailure.inputOutput("\(link) cannot be read.", next: "ls -l \(link)")
        }
        return String(path[..<slash])
    }

    /// Returns the path of a program in `folder`, or in the `sbin` beside it, where packages
    /// install it.
    static func find(_ name: String, in folder: String) -> String? {
        ["\(folder)/\(name)", "\(folder)/../sbin/\(name)"].first { access($0, X_OK) == 0 }
    }
}
