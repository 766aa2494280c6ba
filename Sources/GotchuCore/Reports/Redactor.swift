/// Removes private values from a text, and puts placeholders in their place that stay the same
/// through one report: `eid-1` is one EID wherever it occurs.
///
/// Known secrets are given with `hide`; the rest is recognized by its form. Pure, and bounded by
/// its input.
package struct Redactor: Sendable {
    /// The kind of a value that was removed.
    package enum Kind: String, CaseIterable, Sendable {
        case token, credential, email, address, id, eid, memo, name, user
    }

    /// The shortest free text that is hidden: a memo "a" would be found in every word.
    static let shortestFreeText = 3

    private var known: [(text: String, kind: Kind)] = []
    private var names: [String: String] = [:]
    private var counts: [Kind: Int] = [:]

    package init() {}

    /// Hides a text wherever it occurs, whatever its form.
    package mutating func hide(_ text: String?, as kind: Kind) {
        guard let text, text.count >= Self.shortestFreeText else { return }
        guard !known.contains(where: { $0.text == text }) else { return }
        known.append((text, kind))
        // The longest first: one may be a part of another.
        known.sort { $0.text.utf8.count > $1.text.utf8.count }
    }

    /// Returns the text with placeholders for private values.
    package mutating func redact(_ text: String) -> String {
        var text = text
        for (secret, kind) in known where text.contains(secret) {
            text = text.replacing(secret, with: name(of: secret, kind))
        }
        replace(in: &text, .token, /\b(?<secret>eyJ[\w\-]+\.[\w\-]+\.[\w\-]*)/)
        replace(in: &text, .token, /[Bb]earer (?<secret>[^\s"',]+)/)
        replace(
            in: &text,
            .credential,
            /(?i)(?:token|secret|password|passwd|pwd|api_?key)"?\s*[=:]\s*"?(?<secret>[^\s"'&,}]+)/
        )
        replace(in: &text, .credential, /:\/\/(?<secret>[^\s\/@"']+)@/)
        // The last part of a domain is a word: air@0.0,0.0 is a position on the simulated air.
        replace(
            in: &text,
            .email,
            /(?<secret>[A-Za-z0-9._%+\-]+@(?:[A-Za-z0-9\-]+\.)+[A-Za-z]{2,})\b/
        )
        replace(in: &text, .address, /\b(?<secret>[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5})\b/)
        replace(in: &text, .address, /dev_(?<secret>[0-9A-Fa-f]{2}(?:_[0-9A-Fa-f]{2}){5})/)
        replace(in: &text, .user, /\/home\/(?<secret>[^\/\s"':]+)/)
        replaceWords(in: &text)
        return text
    }

    /// Replaces the group `secret` in each match of a form.
    private mutating func replace(
        in text: inout String,
        _ kind: Kind,
        _ form: Regex<(Substring, secret: Substring)>
    ) {
        rewrite(&text, text.matches(of: form).map { ($0.output.secret, kind) })
    }

    /// Replaces EIDs, and strings that are too long and too mixed to be words.
    private mutating func replaceWords(in text: inout String) {
        let words = text.matches(of: /[A-Za-z0-9_\-]{10,}/).compactMap { match in
            let word = match.output
            if word.utf8.count == EID.length {
                // Without a digit it is taken for a word: of the EIDs one in twenty thousand has
                // none.
                let isEID = EID(word) != nil && word.contains(where: \.isNumber)
                return isEID ? (word, Kind.eid) : nil
            }
            return Self.isRandom(word) ? (word, Kind.id) : nil
        }
        rewrite(&text, words)
    }

    /// Replaces parts of the text, which are given in order, by placeholders.
    private mutating func rewrite(_ text: inout String, _ secrets: [(Substring, Kind)]) {
        guard !secrets.isEmpty else { return }
        var rewritten = ""
        var end = text.startIndex
        for (secret, kind) in secrets where !isName(secret) {
            rewritten += text[end..<secret.startIndex] + name(of: String(secret), kind)
            end = secret.endIndex
        }
        text = rewritten + text[end...]
    }

    private static func isRandom(_ word: Substring) -> Bool {
        guard word.utf8.count >= 16, word.count(where: \.isNumber) >= 2 else { return false }
        if word.allSatisfy({ $0.isHexDigit || $0 == "-" }) {
            return word.contains(where: \.isLetter)
        }
        return word.utf8.count >= 20 && word.contains(where: \.isUppercase)
            && word.contains(where: \.isLowercase)
    }

    /// Returns true if the text is a placeholder that was inserted before.
    private func isName(_ text: Substring) -> Bool {
        let text = text.prefix { $0 != "@" }
        guard let dash = text.lastIndex(of: "-") else { return false }
        return Kind(rawValue: String(text[..<dash])) != nil
            && text[text.index(after: dash)...].allSatisfy(\.isNumber)
    }

    private mutating func name(of secret: String, _ kind: Kind) -> String {
        // An address is the same in capitals, and with the underscores that D-Bus writes for its
        // colons.
        let key = "\(kind.rawValue) \(secret.lowercased().replacing("_", with: ":"))"
        if let name = names[key] { return name }
        counts[kind, default: 0] += 1
        let name = "\(kind.rawValue)-\(counts[kind, default: 1])"
        names[key] = name
        return name
    }
}
