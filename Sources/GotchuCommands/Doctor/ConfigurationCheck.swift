import Glibc
import ServiceProcess
import Subprocess
import SystemPackage

/// Checks that gotchud could start with its configuration, by running gotchud.
struct ConfigurationCheck {
    static let defaultFile = "/etc/gotchu/gotchud.json"
    private static let warningMark = "warning: "
    private static let outputLimit = 16 * 1024

    func run() async -> Finding {
        let layer = "configuration"
        let file = Environment["GOTCHU_CONFIG"] ?? Self.defaultFile
        let isThere = access(file, F_OK) == 0
        if isThere, access(file, R_OK) != 0 {
            return .doubtful(
                layer,
                "\(file) cannot be read by user \(getuid()).",
                fix: "sudo gotchu-ctl doctor"
            )
        }
        guard let folder = try? ProgramFinder.ownFolder(),
            let gotchud = ProgramFinder.find("gotchud", in: folder)
        else {
            return .doubtful(layer, "gotchud is not installed beside gotchu-ctl.")
        }
        do {
            let result = try await Subprocess.run(
                .path(FilePath(gotchud)),
                arguments: ["--check-config"],
                // With this variable set, warnings would be in the journal's format.
                environment: .inherit.updating(["JOURNAL_STREAM": nil]),
                output: .string(limit: Self.outputLimit),
                error: .combinedWithOutput
            )
            let lines = result.standardOutput.split(separator: "\n")
            guard result.terminationStatus.isSuccess else {
                return .bad(
                    layer,
                    lines.first.map(String.init) ?? "gotchud refuses it.",
                    fix: "\(gotchud.shellQuoted) --check-config"
                )
            }
            // If the configuration is valid, gotchud may still log warnings. The first one is
            // reported.
            if let warning = lines.first(where: { $0.hasPrefix(Self.warningMark) }) {
                return .doubtful(
                    layer,
                    "\(warning.dropFirst(Self.warningMark.count)).",
                    fix: "man gotchud"
                )
            }
            return .good(layer, isThere ? "\(file) is right" : "no \(file); the defaults apply")
        } catch {
            return .bad(layer, "gotchud cannot be run.", fix: "ls -l \(gotchud.shellQuoted)")
        }
    }
}
