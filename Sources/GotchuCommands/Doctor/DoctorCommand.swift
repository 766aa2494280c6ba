import ArgumentParser
import ServiceProcess

/// `gotchu-ctl doctor`: checks each layer separately, from the kernel up.
struct DoctorCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check every layer, and say what to do about problems.",
        discussion: """
            EXAMPLES:
              gotchu-ctl doctor
              gotchu-ctl doctor --json

            Works while the daemon is dead. Exits with 1 if anything is wrong.
            """
    )

    /// All findings as one object.
    struct Report: Encodable {
        let findings: [Finding]
    }

    @OptionGroup var options: CommonOptions

    func run() async throws {
        let output = Output(isJSON: options.json)
        var findings: [Finding] = []
        await DoctorChecks(invocation: invocation).run { new in
            let new = new.map { finding in
                var finding = finding
                finding.fix = finding.fix.map(invocation.onSameSocket)
                return finding
            }
            findings += new
            guard !output.isJSON else { return }
            for finding in new { Self.report(finding, output) }
        }
        if output.isJSON { try output.json(Report(findings: findings)) }
        guard !findings.contains(where: { $0.verdict == .bad }) else {
            throw ExitCode(ExitStatus.negative.rawValue)
        }
    }

    private static func report(_ finding: Finding, _ output: Output) {
        let mark =
            switch finding.verdict {
            case .good: output.data.paint("✓", .green)
            case .bad: output.data.paint("✗", .red)
            case .doubtful: output.data.paint("!", .yellow)
            case .skipped: output.data.paint("-", .dim)
            }
        let layer = finding.layer.padding(to: 14)
        output.line("\(mark) \(output.data.paint(layer, .dim)) \(finding.text.printable)")
        if let fix = finding.fix {
            output.line("  → " + output.data.paint(fix.printable, .bold))
        }
    }
}

extension String {
    /// Returns the text padded with spaces to `columns`.
    func padding(to columns: Int) -> String {
        self + String(repeating: " ", count: max(0, columns - self.columns))
    }
}
