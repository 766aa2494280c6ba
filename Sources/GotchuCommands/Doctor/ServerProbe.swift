import GotchuAPI
import GotchuCore
import Subprocess
import SystemPackage

/// Probes the payment server by `gotchud --check-server`, as gotchud itself does. The daemon need
/// not run.
enum ServerProbe {
    private static let outputLimit = 16 * 1024

    /// - Parameter server: The running daemon's server; `nil` for the configured one.
    /// - Returns: `nil` if there is no gotchud program, or it returned no result.
    static func run(server: String?) async -> ServerProbeReply? {
        try? await run(server.map { ["--server", $0] } ?? [], input: .none).reply
    }

    /// Runs gotchud's probe with these options.
    ///
    /// - Returns: The result, or the first line of gotchud's error.
    static func run(
        _ options: [String],
        input: some InputProtocol
    ) async throws -> (reply: ServerProbeReply?, errorText: String) {
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
        let output = Array(result.standardOutput.utf8)
        let reply = try? JSONReader.decode(ServerProbeReply.self, output)
        return (reply, result.standardError.split(separator: "\n").first.map(String.init) ?? "")
    }
}

extension ServerProbeReply {
    /// The time by which this machine's clock is ahead of the server's, negative if it is behind.
    var clockLead: Duration? { clockLeadMilliseconds.map { .milliseconds($0) } }
}
