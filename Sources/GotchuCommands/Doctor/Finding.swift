/// The result of a check of one layer.
struct Finding: Encodable, Equatable, Sendable {
    enum Verdict: String, Encodable, Sendable {
        case good
        /// Payments cannot work.
        case bad
        /// Payments work, but a person should look.
        case doubtful
        /// Unknown while a layer below does not work, or of no importance.
        case skipped
    }

    /// A stable name in lower-kebab.
    let layer: String
    let verdict: Verdict
    /// The observation, in a few words.
    let text: String
    /// The command to run, or the thing to do.
    var fix: String?

    init(_ layer: String, _ verdict: Verdict, _ text: String, fix: String? = nil) {
        self.layer = layer
        self.verdict = verdict
        self.text = text
        self.fix = fix
    }
}
