import ArgumentParser
import ServiceProcess

/// `gotchu-ctl exit-codes`: prints the exit statuses, on which scripts rely. The command's help has
/// the same table.
struct ExitCodesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "exit-codes",
        abstract: "Show the meaning of the exit codes.",
        discussion: "EXIT CODES:\n" + table
    )

    /// An exit status in JSON.
    private struct Entry: Encodable {
        let code: Int32
        let meaning: String
    }

    @OptionGroup var options: CommonOptions

    func run() throws {
        let output = Output(isJSON: options.json)
        guard output.isJSON else { return output.raw(Self.table + "\n") }
        let entries = ExitStatus.allCases.map { Entry(code: $0.rawValue, meaning: $0.meaning) }
        try output.json(["exit_codes": entries])
    }

    private static let table = ExitStatus.allCases.map { status in
        let code = String(status.rawValue)
        return String(repeating: " ", count: 4 - code.count) + code + "  " + status.meaning
    }.joined(separator: "\n")
}
