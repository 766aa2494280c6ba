import Glibc

/// A question to the person at the terminal.
struct Question {
    let output: Output

    /// A Boolean that is true if there is a person who sees the question and can answer.
    var canBeAsked: Bool { isatty(STDIN_FILENO) == 1 && output.talking.isTerminal }

    /// Asks. Anything but yes means no.
    func ask(_ text: String) -> Bool {
        Self.forgetInput()
        output.talk("\(text) [y/N] ", terminator: "")
        // Nothing else runs meanwhile, and Ctrl-C may end the process: nothing has been sent.
        let answer = readLine()
        if answer == nil { output.talk("") }
        return answer.map { ["y", "yes"].contains($0.lowercased()) } ?? false
    }

    /// Requires a person who can be asked.
    ///
    /// - Parameter next: The command that asks nothing.
    func requireTerminal(next: String) throws {
        guard !canBeAsked else { return }
        throw CommandFailure.usage(
            "There is no terminal to ask on, so --yes is needed.",
            next: next
        )
    }

    /// Asks, unless the person said beforehand that it is not needed.
    ///
    /// - Parameters:
    ///   - refusal: The sentence for a no: nothing has happened.
    ///   - next: The command without its question.
    func require(
        _ text: String,
        unless isAgreed: Bool,
        refusal: String,
        next: String
    ) throws {
        guard !isAgreed else { return }
        try requireTerminal(next: next + " --yes")
        guard ask(text) else { throw CommandFailure.negative(refusal, next: next) }
    }

    /// Lets the person choose one of `count` by its number, from 1; `nil` for anything else.
    func choose(_ text: String, of count: Int) -> Int? {
        Self.forgetInput()
        output.talk("\(text) [1-\(count), Enter for none] ", terminator: "")
        let answer = readLine()
        if answer == nil { output.talk("") }
        return answer.flatMap { Int($0) }.flatMap { (1...count).contains($0) ? $0 : nil }
    }

    /// Discards input typed before the question was shown: it answers nothing.
    static func forgetInput() { tcflush(STDIN_FILENO, TCIFLUSH) }
}
