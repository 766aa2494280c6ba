import Glibc

/// A question to the person at the terminal.
struct Question {
    let output: Output

    /// A Boolean that is true if a person can see the question and answer it.
    var isInteractive: Bool { isatty(STDIN_FILENO) == 1 && output.messages.isTerminal }

    /// Asks a question. Any answer other than yes means no.
    func ask(_ text: String) -> Bool {
        Self.discardInput()
        output.message("\(text) [y/N] ", terminator: "")
        // Blocking is safe: nothing else runs here. Ctrl-C may end the process, as nothing was
        // sent.
        let answer = readLine()
        if answer == nil { output.message("") }
        return answer.map { ["y", "yes"].contains($0.lowercased()) } ?? false
    }

    /// Throws if there is no terminal to ask on.
    ///
    /// - Parameter next: The same command without a question.
    func requireTerminal(next: String) throws {
        guard !isInteractive else { return }
        throw CommandFailure.usage(
            "There is no terminal to ask on, so --yes is needed.",
            next: next
        )
    }

    /// Asks for confirmation, unless the person gave it beforehand. Throws if the answer is no, or
    /// there is no terminal.
    ///
    /// - Parameters:
    ///   - refusal: The sentence for the answer no: nothing was done.
    ///   - next: The command to run again. Without a terminal ` --yes` is added to it.
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

    /// Returns the number that the person chooses, 1 to `count`; `nil` for any other answer.
    func choose(_ text: String, of count: Int) -> Int? {
        Self.discardInput()
        output.message("\(text) [1-\(count), Enter for none] ", terminator: "")
        let answer = readLine()
        if answer == nil { output.message("") }
        return answer.flatMap { Int($0) }.flatMap { (1...count).contains($0) ? $0 : nil }
    }

    /// Discards input that was typed before the question was shown.
    static func discardInput() { tcflush(STDIN_FILENO, TCIFLUSH) }
}
