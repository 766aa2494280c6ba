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

    func run() {
        Output(isJSON: false).raw(Self.table + "\n")
    }

    private static let table = ExitStatus.allCases.map { status in
        let code = String(status.rawValue)
        return String(repeating: " ", count: 4 - code.count) + code + "  " + status.meaning
    }.joined(separator: "\n")
}
