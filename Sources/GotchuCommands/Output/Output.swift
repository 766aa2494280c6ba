import FoundationEssentials
import Glibc
import GotchuAPI

/// Prints for all commands: data to standard output, other text to standard error.
struct Output: Sendable {
    let isJSON: Bool
    let data = Terminal(descriptor: STDOUT_FILENO)
    let messages = Terminal(descriptor: STDERR_FILENO)
    /// The messages that wait for a live region. Copies of this value share them.
    let heldMessages = HeldMessages()

    /// A Boolean that is true if data is redrawn in place for a person.
    var isLive: Bool { !isJSON && data.canRedraw }

    /// Writes one line of data for a person.
    func line(_ text: String = "") {
        write(text + "\n", to: data)
    }

    /// Writes data unchanged, such as a live region's frame.
    func raw(_ text: String) {
        write(text, to: data)
    }

    /// Writes one indented JSON object.
    func json(_ value: some Encodable) throws {
        try write(encoded(value, .prettyPrinted) + "\n", to: data)
    }

    /// Writes one JSON object on one line.
    func jsonLine(_ value: some Encodable) throws {
        try write(encoded(value, []) + "\n", to: data)
    }

    /// Writes text that is not data: notes, progress, questions. While a live region is drawn, the
    /// text is held and appears above the region's next frame.
    func message(_ text: String, terminator: String = "\n") {
        heldMessages.hold(text + terminator) { write($0, to: messages) }
    }

    /// Reports a failure as text; its last line is the command to run next. If the output is JSON,
    /// prints the failure as JSON too.
    func report(_ diagnosis: Diagnosis) {
        if isJSON { reportAsJSON(diagnosis) }
        message(messages.paint("gotchu-ctl: ", .bold) + diagnosis.detail)
        message("→ " + messages.paint(diagnosis.fix, .bold))
    }

    /// Reports a failure as JSON only.
    func reportAsJSON(_ diagnosis: Diagnosis) {
        try? json(Failed(diagnosis: diagnosis))
    }

    /// A failure in JSON: the object that it concerns, with the member `error` added.
    private struct Failed: Encodable {
        let diagnosis: Diagnosis

        private enum CodingKeys: CodingKey { case error }

        func encode(to encoder: any Encoder) throws {
            try diagnosis.subject?.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(diagnosis, forKey: .error)
        }
    }

    private func encoded(
        _ value: some Encodable,
        _ formatting: JSONEncoder.OutputFormatting
    ) throws -> String {
        let encoder = JSONEncoder.canonical
        encoder.outputFormatting.formUnion(formatting)
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}
