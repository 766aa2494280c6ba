/// The texts of a contest's page around its documents, in one language. Every language must have
/// all texts to compile. Names of section members may be missing: such a member is named by its
/// key.
package struct ContestPageWords: Sendable {
    /// Shown instead of an empty list of contests.
    package let none: String
    package let more: String
    /// The link to the organiser's page.
    package let organize: String

    /// Placeholder: the organiser's name.
    package let by: String
    package let closes: String
    package let starts: String
    package let ends: String
    package let entries: String
    package let fee: String
    package let rules: String
    package let scheduled: String

    /// Placeholder: the number of the viewer's entry.
    package let entered: String
    package let you: String
    package let possible: String
    package let logIn: String
    /// Shown before the link that lets others enter a private contest.
    package let invitation: String
    /// The label of the field for an objection.
    package let objection: String
    package let place: String
    package let save: String
    /// Placeholder: the maximum cost of a roster.
    package let cap: String
    /// Shown for an action that this page does not know.
    package let elsewhere: String

    package let results: String
    package let noResults: String
    /// Shown for a prize that is not paid yet.
    package let afterSettlement: String
    /// Shown for a section without content that can be shown.
    package let cannotShow: String
    package let yes: String
    package let no: String
    /// The titles of the built-in sections, by type.
    package let titles: [String: String]
    /// The names of section members by key, in the order of display.
    let members: [(key: String, name: String)]

    /// Returns the name of a section's member. An unknown key is converted to words.
    package func name(of key: String) -> String {
        members.first { $0.key == key }?.name ?? Self.words(of: key)
    }

    /// Returns the keys in the order of display: known keys, then the others by name.
    package func ordered(_ keys: some Sequence<String>) -> [String] {
        let known = members.map(\.key)
        return keys.sorted { first, second in
            let places = (known.firstIndex(of: first), known.firstIndex(of: second))
            return (places.0 ?? .max, first) < (places.1 ?? .max, second)
        }
    }

    /// Returns the title of a section type. An unknown type is converted to words.
    package func title(of type: String) -> String { titles[type] ?? Self.words(of: type) }

    /// Converts a key to words: `pit_stops` becomes `Pit stops`.
    private static func words(of key: String) -> String {
        let words = key.replacing("_", with: " ")
        return words.prefix(1).uppercased() + words.dropFirst()
    }
}
