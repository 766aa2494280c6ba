/// A language of the screens and the web pages, by its ISO 639-1 code.
package enum Language: String, CaseIterable, Codable, Sendable {
    case english = "en"
    case german = "de"
    case arabic = "ar"
}
