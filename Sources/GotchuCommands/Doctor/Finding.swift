/// The result of a check of one layer.
struct Finding: Encodable, Equatable, Sendable {
    enum Verdict: String, Encodable, Sendable {
        case good
        /// Payments cannot work.
        case bad
        /// Payments work, but a person should check this layer.
        case doubtful
        /// Unknown, because a lower layer does not work; or irrelevant.
        case skipped
    }

    /// A stable name in lower-kebab.
    let layer: String
    let verdict: Verdict
    /// The observation, in a few words.
    let text: String
    /// The command to run, or the action to take.
    var fix: String?

    init(_ layer: String, _ verdict: Verdict, _ text: String, fix: String? = nil) {
        self.layer = layer
        self.verdict = verdict
        self.text = text
        self.fix = fix
    }

    static func good(_ layer: String, _ text: String) -> Finding {
        Finding(layer, .good, text)
    }

    static func bad(_ layer: String, _ text: String, fix: String? = nil) -> Finding {
        Finding(layer, .bad, text, fix: fix)
    }

    static func doubtful(_ layer: String, _ text: String, fix: String? = nil) -> Finding {
        Finding(layer, .doubtful, text, fix: fix)
    }

    static func skipped(_ layer: String, _ text: String) -> Finding {
        Finding(layer, .skipped, text)
    }
}
