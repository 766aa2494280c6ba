package import ArgumentParser
import Glibc
import GotchuAPI
import ServiceProcess

/// `gotchu-ctl`: the command line of the daemon.
package struct GotchuCtl: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "gotchu-ctl",
        abstract: "Request money, and pay by being near.",
        discussion: """
            EXAMPLES:
              gotchu-ctl request 50.00 --memo "Coffee"
              gotchu-ctl pay
            """,
        version: GotchuVersion.current,
        groupedSubcommands: [
            CommandGroup(
                name: "TAKE AND MAKE PAYMENTS",
                subcommands: [
                    RequestCommand.self, CancelCommand.self, PayCommand.self, WalletCommand.self,
                    RefundCommand.self, HistoryCommand.self, ReportCommand.self,
                    EarningsCommand.self, WithdrawCommand.self, PayoutsCommand.self,
                ]
            ),
            CommandGroup(name: "CONTESTS", subcommands: [ContestCommand.self]),
            CommandGroup(
                name: "LOOK",
                subcommands: [
                    StatusCommand.self, ScanCommand.self, WatchCommand.self, WaitCommand.self,
                    DisplayCommand.self, DoctorCommand.self, BugReportCommand.self,
                    RecordCommand.self,
                ]
            ),
            CommandGroup(
                name: "SET UP AND TRY",
                subcommands: [
                    EnrolCommand.self, LoginCommand.self, LogoutCommand.self, TillCommand.self,
                    CalibrateCommand.self, DemoCommand.self, ExitCodesCommand.self,
                ]
            ),
        ]
    )

    /// The common options, accepted before the command as well as after it.
    @OptionGroup var options: CommonOptions

    package init() {}

    /// Runs the process: parses its arguments, runs the command, and exits with its status.
    package static func main() async {
        StandardStreams.guardAll()
        let command: any ParsableCommand
        do {
            command = try parseAsRoot()
        } catch {
            // Help, the version and completion scripts are thrown as errors too.
            if !exitCode(for: error).isSuccess,
                let unknown = unknownCommand(CommandLine.arguments.dropFirst())
            {
                reportAsJSON(unknown)
                exit(withError: unknown)
            }
            reportAsJSON(error)
            exit(withError: error)
        }
        do {
            try LocalTimeZone.require()
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                var synchronous = command
                try synchronous.run()
            }
            Output.endIfUnwritable()
        } catch {
            end(with: error, of: command)
        }
    }

    /// The error for an unknown command; `nil` if the command exists. It states the word and a
    /// similar command, which the parser's error does not.
    private static func unknownCommand(_ arguments: ArraySlice<String>) -> ValidationError? {
        let names = configuration.subcommands.compactMap { $0.configuration.commandName }
        guard let word = withoutOptions(arguments).first, !(names + ["help"]).contains(word) else {
            return nil
        }
        let nearest = names.min { $0.distance(to: word) < $1.distance(to: word) }
        var hint = ""
        if let nearest, nearest.distance(to: word) <= 2 { hint = " Did you mean '\(nearest)'?" }
        return ValidationError("There is no command '\(word.shortened)'.\(hint)")
    }

    /// The command or subcommand that the arguments name; `nil` if they name none.
    private static func namedCommand(
        _ arguments: ArraySlice<String>
    ) -> (any ParsableCommand.Type)? {
        var words = withoutOptions(arguments)
        var named: (any ParsableCommand.Type)?
        var commands = configuration.subcommands
        while let word = words.first,
            let next = commands.first(where: { $0.configuration.commandName == word })
        {
            named = next
            commands = next.configuration.subcommands
            words = withoutOptions(words.dropFirst())
        }
        return named
    }

    /// The arguments without the common options before the first word.
    private static func withoutOptions(_ arguments: ArraySlice<String>) -> ArraySlice<String> {
        var words = arguments
        while let option = words.first, option.hasPrefix("-") {
            words = words.dropFirst(option == "--socket" ? 2 : 1)
        }
        return words
    }

    /// The name of a command, preceded by its parent's name.
    static func name(of command: any ParsableCommand.Type) -> String? {
        let parent = configuration.subcommands.first { parent in
            parent.configuration.subcommands.contains { $0 == command }
        }
        let names = [parent, command].compactMap { $0?.configuration.commandName }
        return names.isEmpty ? nil : names.joined(separator: " ")
    }

    /// Prints a command-line error as JSON if `--json` was given.
    private static func reportAsJSON(_ error: any Error) {
        guard CommandLine.arguments.contains("--json"), !exitCode(for: error).isSuccess else {
            return
        }
        let command = namedCommand(CommandLine.arguments.dropFirst()).flatMap { name(of: $0) }
        let invocation = Invocation(socketPath: "", arguments: [], command: command)
        let failure = CommandFailure.usage(message(for: error), next: invocation.helpCommand)
        Output(isJSON: true).reportAsJSON(Diagnosis(failure, invocation: invocation))
    }

    private static func end(with error: any Error, of command: any ParsableCommand) -> Never {
        // The parser prints its own errors (help, versions, exit codes).
        let isTold = error is ExitCode || error is ValidationError || error is CleanExit
        guard !isTold, let command = command as? any ReportingCommand else {
            Output.endIfUnwritable()
            exit(withError: error)
        }
        let diagnosis = Diagnosis(CommandFailure(error), invocation: command.invocation)
        Output(isJSON: command.options.json).report(diagnosis)
        Output.endIfUnwritable()
        Glibc.exit(diagnosis.status.rawValue)
    }
}
