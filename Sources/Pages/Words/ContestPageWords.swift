/// The words of a contest's page around its documents, in one language. A missing one does not
/// compile, but for those of the members of sections: a member without one is called by its key.
package struct ContestPageWords: Sendable {
    /// Instead of a list without contests.
    package let none: String
    package let more: String
    /// Leads to the organiser's part.
    package let organize: String

    /// With the organiser's name in the place of `{}`.
    package let by: String
    package let closes: String
    package let starts: String
    package let ends: String
    package let entries: String
    package let fee: String
    package let rules: String
    package let scheduled: String

    /// With the number of the viewer's entry.
    package let entered: String
    package let you: String
    package let possible: String
    package let logIn: String
    /// Before the link that lets others enter a private contest.
    package let invitation: String
    /// Above the field for an objection.
    package let objection: String
    package let place: String
    package let save: String
    /// With the most that a roster may cost.
    package let cap: String
    /// For an action that this page does not know.
    package let elsewhere: String

    package let results: String
    package let noResults: String
    /// A prize that is not paid yet.
    package let afterSettlement: String
    /// For a section of which nothing can be shown.
    package let cannotShow: String
    package let yes: String
    package let no: String
    /// The titles of the sections that every contest may have, by their types.
    package let titles: [String: String]
    /// The names of members of sections, in the order in which they are shown.
    let members: [(key: String, name: String)]

    /// Returns the name of a section's member; its key as words unless it is known.
    package func name(of key: String) -> String {
        members.first { $0.key == key }?.name ?? Self.words(of: key)
    }

    /// Returns the keys in the order in which they are shown: the known ones first.
    package func ordered(_ keys: some Sequence<String>) -> [String] {
        let known = members.map(\.key)
        return keys.sorted { first, second in
            let places = (known.firstIndex(of: first), known.firstIndex(of: second))
            return (places.0 ?? .max, first) < (places.1 ?? .max, second)
        }
    }

    /// Returns the title of a section of a type; the type as words unless it is known.
    package func title(of type: String) -> String { titles[type] ?? Self.words(of: type) }

    /// A key as words: `pit_stops` is `Pit stops`.
    private static func words(of key: String) -> String {
        let words = key.replacing("_", with: " ")
        return words.prefix(1).uppercased() + words.dropFirst()
    }
}
