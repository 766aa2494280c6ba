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
        try? await run(server.map { ["--server", $0] } ?? [], input: .none).reply
    }

    /// Asks with these options of gotchud's.
    ///
    /// - Returns: What it found, or the first line of what it says instead.
    static func run(
        _ options: [String],
        input: some InputProtocol
    ) async throws -> (reply: ServerProbeReply?, complaint: String) {
        guard let gotchud = ProgramFinder.find("gotchud", in: try ProgramFinder.ownFolder()) else {
            return (nil, "gotchud is not installed beside gotchu-ctl.")
        }
        let result = try await Subprocess.run(
            .path(FilePath(gotchud)),
            arguments: .init(["--check-server"] + options),
            input: input,
            output: .string(limit: outputLimit),
            error: .string(limit: outputLimit)
        )
        let reply = try? JSONDecoder().decode(
            ServerProbeReply.self,
            from: Data(result.standardOutput.utf8)
        )
        return (reply, result.standardError.split(separator: "\n").first.map(String.init) ?? "")
    }
}

extension ServerProbeReply {
    /// By how much this machine's clock is ahead of the server's.
    var clockLead: Duration? { clockLeadMilliseconds.map { .milliseconds($0) } }
}
