/// Where the books are kept: `sqlite:PATH`.
struct DatabaseLocation: Equatable, Sendable {
    let path: String

    init?(_ text: String) {
        let scheme = "sqlite:"
        guard text.hasPrefix(scheme), text.utf8.count > scheme.utf8.count else { return nil }
        path = String(text.dropFirst(scheme.count))
    }
}
