import FoundationEssentials
import GotchuAPI
import Subprocess
import SystemPackage

/// Asks the payment server as gotchud would, whether that runs or not: `gotchud --check-server`.
enum ServerProbe {
    private static let outputLimit = 16 * 1024

    /// - Parameter server: The running daemon's; `nil` takes what is configured.
    /// - Returns: `nil` when there is no gotchud to ask with, or it could not say.
    static func run(server: String?) async -> ServerProbeReply? {
        guard let folder = try? ProgramFinder.ownFolder(),
            let gotchud = ProgramFinder.find("gotchud", in: folder)
        else { return nil }
        let result = try? await Subprocess.run(
            .path(FilePath(gotchud)),
            arguments: .init(["--check-server"] + (server.map { ["--server", $0] } ?? [])),
            output: .string(limit: outputLimit),
            error: .discarded
        )
        guard let text = result?.standardOutput else { return nil }
        return try? JSONDecoder().decode(ServerProbeReply.self, from: Data(text.utf8))
    }
}

extension ServerProbeReply {
    /// By how much this machine's clock is ahead of the server's.
    var clockLead: Duration? { clockLeadMilliseconds.map { .milliseconds($0) } }
}
