import Foundation
import TestSupport

/// A finished run of the real `gotchu-ctl`.
struct GotchuCtl {
    let code: Int32
    let out: String
    let err: String

    /// Runs the program and waits at most `limit` for its end.
    ///
    /// - Parameter socket: The path that is passed as `GOTCHU_SOCKET`.
    static func run(
        _ arguments: [String],
        socket: String = "/nonexistent/gotchud.sock",
        input: String = "",
        environment: [String: String] = [:],
        limit: Duration = .seconds(40)
    ) async throws -> GotchuCtl {
        let folder = try TemporaryFolder()
        let command = try shell(arguments, folder: folder, input: input)
        var all = ["GOTCHU_SOCKET": socket, "TERM": "xterm", "TZ": "UTC"]
        all.merge(environment) { $1 }
        let program = try Program("/bin/sh", ["-c", command], environment: all)
        let code = try await program.exitCode(within: limit)
        return GotchuCtl(
            code: code,
            out: try String(contentsOfFile: "\(folder.path)/out", encoding: .utf8),
            err: try String(contentsOfFile: "\(folder.path)/err", encoding: .utf8)
        )
    }

    /// Starts the program as user 65534 (nobody). This needs root.
    static func asNobody(_ arguments: [String]) throws -> Program {
        try Program(
            "/usr/bin/setpriv",
            [
                "--reuid", "65534", "--regid", "65534", "--clear-groups",
                Program.folder.appendingPathComponent("gotchu-ctl").path,
            ] + arguments
        )
    }

    /// The program's path, in quotes for a shell.
    static var path: String { "'\(Program.folder.path)/gotchu-ctl'" }

    /// The last line of the standard error: the suggested next step.
    var next: String { err.split(separator: "\n").last.map(String.init) ?? "" }

    func json() throws -> [String: Any] {
        let value = try JSONSerialization.jsonObject(with: Data(out.utf8))
        return value as? [String: Any] ?? [:]
    }

    private static func shell(
        _ arguments: [String],
        folder: TemporaryFolder,
        input: String
    ) throws -> String {
        let file = try folder.write(input, to: "in")
        let words = arguments.map { "'\($0)'" }.joined(separator: " ")
        // `exec` replaces the shell, so that the signal that ends a hung run reaches the program.
        return "exec \(path) \(words) < \(file) > \(folder.path)/out 2> \(folder.path)/err"
    }
}
