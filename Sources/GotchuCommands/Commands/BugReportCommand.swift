import ArgumentParser
import Glibc
import GotchuAPI
import GotchuCore
import LocalAPI
import ServiceProcess
import Subprocess
import SystemPackage

/// `gotchu-ctl bugreport`: writes one file that helps to find a fault.
struct BugReportCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "bugreport",
        abstract: "Write a report for finding a fault, without secrets.",
        discussion: """
            EXAMPLES:
              sudo gotchu-ctl bugreport
              sudo gotchu-ctl bugreport till-3.txt

            EIDs, addresses, tokens, e-mails, names and memos become names such as eid-1. Nothing \
            is sent anywhere. Works while the daemon is dead, with what there is then.
            """
    )

    /// The output of `--json`.
    struct Written: Encodable {
        let file: String
        /// The parts that the report lacks, with the reasons.
        let missing: [String]
    }

    private static let journalLimit = 256 * 1024

    @OptionGroup var options: CommonOptions

    @Argument(help: "The file to write; it must not exist.", completion: .file())
    var file: String?

    func run() async throws {
        let output = Output(isJSON: options.json)
        // The file is created first: if that fails, nothing needs to be collected.
        let path = file ?? "gotchu-bugreport-\(Self.fileTime).txt"
        let descriptor = try Self.create(path)
        defer { close(descriptor) }
        output.message("Gathering …")
        let (text, missing) = await gather()
        guard Self.write(text, to: descriptor) else {
            throw CommandFailure.inputOutput("\(path) could not be written.", next: "df -h .")
        }
        for reason in missing { output.message("Missing: \(reason.printable)") }
        guard !output.isJSON else {
            return try output.json(Written(file: path, missing: missing))
        }
        output.line(path.printable)
        output.message("Read it before you give it away: less \(path.shellQuoted)")
    }

    private func gather() async -> (text: String, missing: [String]) {
        var redactor = Redactor()
        var missing: [String] = []
        var findings: [String] = []
        await DoctorChecks(invocation: invocation).run { new in
            findings += new.map { "\($0.verdict.rawValue) \($0.layer): \($0.text)" }
        }
        var sections = [
            ("gotchu bug report", ["made at \(Timestamp.now.iso8601)"]),
            ("gotchu-ctl", ["version \(GotchuVersion.current)", Self.system]),
            ("doctor", findings),
        ]
        var fromDaemon = ""
        do {
            fromDaemon = try await LocalClient(socketPath: socketPath).bugReport().text
        } catch {
            let diagnosis = Diagnosis(CommandFailure(error), invocation: invocation)
            missing.append("what gotchud knows: \(diagnosis.detail)")
            let (lines, reason) = await Self.journal()
            if let reason { missing.append(reason) }
            sections.append(("journal of the service", lines))
        }
        sections.append(("missing", missing))
        let own = sections.map { title, lines in
            let body = lines.isEmpty ? ["(nothing)"] : lines.map { redactor.redact($0) }
            return "== \(title)\n" + body.joined(separator: "\n") + "\n"
        }
        return ((own + [fromDaemon]).joined(separator: "\n"), missing)
    }

    /// Returns the service's last log lines, for a daemon that cannot return them itself.
    private static func journal() async -> (lines: [String], missing: String?) {
        let missing = "the service's journal: journalctl is not there or tells nothing"
        let result = try? await Subprocess.run(
            .name("journalctl"),
            arguments: [
                "--unit=gotchud", "--lines=200", "--no-pager", "--output=short-iso",
                "--no-hostname", "--quiet",
            ],
            output: .string(limit: journalLimit),
            error: .discarded
        )
        guard let result, result.terminationStatus.isSuccess else { return ([], missing) }
        let lines = result.standardOutput.split(separator: "\n").map(String.init)
        return (lines, lines.isEmpty ? missing : nil)
    }

    /// The kernel as uname(2) reports it, without the host name.
    private static var system: String {
        var names = utsname()
        guard uname(&names) == 0 else { return "unknown system" }
        func text<Field>(_ field: Field) -> String {
            withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        }
        return "\(text(names.sysname)) \(text(names.release)) \(text(names.machine))"
    }

    private static var fileTime: String {
        String(Timestamp.now.iso8601.prefix(19)).replacing(":", with: "")
    }

    /// Creates a file that only its owner can access. Fails if the path exists, even as a link.
    private static func create(_ path: String) throws -> Int32 {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor < 0 else { return descriptor }
        let code = errno
        throw CommandFailure.inputOutput(
            code == EEXIST
                ? "\(path) is there already, and a report overwrites nothing."
                : "\(path) cannot be written: \(String(cString: strerror(code))).",
            next: "gotchu-ctl bugreport ~/gotchu-\(fileTime).txt"
        )
    }

    private static func write(_ text: String, to descriptor: Int32) -> Bool {
        let file = FileDescriptor(rawValue: descriptor)
        return (try? file.writeAll(Array(text.utf8))) != nil && fsync(descriptor) == 0
    }
}
