import FoundationEssentials
import Glibc
import GotchuAPI

/// The only type that prints: data on stdout, talk on stderr.
struct Output: Sendable {
    let isJSON: Bool
    let data = Terminal(descriptor: STDOUT_FILENO)
    let talking = Terminal(descriptor: STDERR_FILENO)

    /// A Boolean that is true if the data is text that a person watches change.
    var isLive: Bool { !isJSON && data.canRedraw }

    /// One line of data for a person.
    func line(_ text: String = "") {
        write(text + "\n", to: data)
    }

    /// Data as it is, such as a live region's frame.
    func raw(_ text: String) {
        write(text, to: data)
    }

    /// One JSON object that people can read too.
    func json(_ value: some Encodable) throws {
        try write(encoded(value, .prettyPrinted) + "\n", to: data)
    }

    /// One JSON object on a line of its own.
    func jsonLine(_ value: some Encodable) throws {
        try write(encoded(value, []) + "\n", to: data)
    }

    /// Writes text that is not data: notes, progress, questions.
    func talk(_ text: String, terminator: String = "\n") {
        write(text + terminator, to: talking)
    }

    /// Tells a failure; the last line is the command to run next.
    func tell(_ diagnosis: Diagnosis) {
        if isJSON { tellInJSON(diagnosis) }
        talk(talking.paint("gotchu-ctl: ", .bold) + diagnosis.detail)
        talk("→ " + talking.paint(diagnosis.fix, .bold))
    }

    /// Tells a failure to a program alone.
    func tellInJSON(_ diagnosis: Diagnosis) {
        try? json(Failed(diagnosis))
    }

    /// A failure as JSON has it: what it is about, and the member `error`.
    private struct Failed: Encodable {
        private let diagnosis: Diagnosis

        init(_ diagnosis: Diagnosis) {
            self.diagnosis = diagnosis
        }

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
