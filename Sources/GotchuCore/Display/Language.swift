/// A language that the screens speak, by its code of ISO 639-1.
package enum Language: String, CaseIterable, Codable, Sendable {
    case english = "en"
    case german = "de"
    case arabic = "ar"
}
