/// Replaces private values in texts by placeholders. Within one report, a value always has the same
/// placeholder: `eid-1` is one EID wherever it occurs.
///
/// Known secrets are registered with `hide`; others are recognized by their format. Pure; memory is
/// bounded by the input.
package struct Redactor: Sendable {
    /// The kind of a value that was removed.
    package enum Kind: String, CaseIterable, Sendable {
        case token, credential, email, address, id, eid, memo, name, user
    }

    /// The minimum length of a text that `hide` accepts. A memo "a" would be found in every word.
    static let shortestFreeText = 3

    private var known: [(text: String, kind: Kind)] = []
    private var placeholders: [String: String] = [:]
    private var counts: [Kind: Int] = [:]

    package init() {}

    /// Hides a text of at least `shortestFreeText` characters wherever it occurs, in any format.
    package mutating func hide(_ text: String?, as kind: Kind) {
        guard let text, text.count >= Self.shortestFreeText else { return }
        guard !known.contains(where: { $0.text == text }) else { return }
        known.append((text, kind))
        // The longest first, because one may be part of another.
        known.sort { $0.text.utf8.count > $1.text.utf8.count }
    }

    /// Returns the text with placeholders for private values.
    package mutating func redact(_ text: String) -> String {
        var text = text
        for (secret, kind) in known where text.contains(secret) {
            text = text.replacing(secret, with: placeholder(for: secret, kind))
        }
        replace(in: &text, .token, /\b(?<secret>eyJ[\w\-]+\.[\w\-]+\.[\w\-]*)/)
        replace(in: &text, .token, /[Bb]earer (?<secret>[^\s"',]+)/)
        replace(
            in: &text,
            .credential,
            /(?i)(?:token|secret|password|passwd|pwd|api_?key)"?\s*[=:]\s*"?(?<secret>[^\s"'&,}]+)/
        )
        replace(in: &text, .credential, /:\/\/(?<secret>[^\s\/@"']+)@/)
        // A top-level domain has letters only, so this excludes air@0.0,0.0, a position on the
        // simulated air.
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

    /// Replaces the group `secret` in each match of a pattern.
    private mutating func replace(
        in text: inout String,
        _ kind: Kind,
        _ form: Regex<(Substring, secret: Substring)>
    ) {
        rewrite(&text, text.matches(of: form).map { ($0.output.secret, kind) })
    }

    /// Replaces EIDs, and long strings that look random.
    private mutating func replaceWords(in text: inout String) {
        let words = text.matches(of: /[A-Za-z0-9_\-]{10,}/).compactMap { match in
            let word = match.output
            if word.utf8.count == EID.length {
                // A word without a digit is not treated as an EID. One EID in about 18,000 has
                // none.
                let isEID = EID(word) != nil && word.contains(where: \.isNumber)
                return isEID ? (word, Kind.eid) : nil
            }
            return Self.isRandom(word) ? (word, Kind.id) : nil
        }
        rewrite(&text, words)
    }

    /// Replaces the given parts of the text, in order, by placeholders.
    private mutating func rewrite(_ text: inout String, _ secrets: [(Substring, Kind)]) {
        guard !secrets.isEmpty else { return }
        var rewritten = ""
        var end = text.startIndex
        for (secret, kind) in secrets where !isPlaceholder(secret) {
            rewritten += text[end..<secret.startIndex] + placeholder(for: String(secret), kind)
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
    private func isPlaceholder(_ text: Substring) -> Bool {
        let text = text.prefix { $0 != "@" }
        guard let dash = text.lastIndex(of: "-") else { return false }
        return Kind(rawValue: String(text[..<dash])) != nil
            && text[text.index(after: dash)...].allSatisfy(\.isNumber)
    }

    private mutating func placeholder(for secret: String, _ kind: Kind) -> String {
        // The same address may be in upper case, or have D-Bus's underscores instead of colons.
        let key = "\(kind.rawValue) \(secret.lowercased().replacing("_", with: ":"))"
        if let name = placeholders[key] { return name }
        counts[kind, default: 0] += 1
        let name = "\(kind.rawValue)-\(counts[kind, default: 1])"
        placeholders[key] = name
        return name
    }
}
