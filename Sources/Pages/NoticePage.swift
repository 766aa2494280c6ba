/// A page with a short message, such as a refusal.
package struct NoticePage: Sendable {
    private let title: String
    private let text: String
    private let fix: String?

    /// - Parameter fix: The action that helps the person; `nil` if there is none.
    package init(title: String, text: String, fix: String?) {
        self.title = title
        self.text = text
        self.fix = fix
    }

    package var html: HTML {
        let fix = fix.map { text -> HTML in "<p>\(text)</p>" }
        return """
            <!doctype html>
            <html lang="en">
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width">
            <title>\(title)</title>
            <link rel="stylesheet" href="\(Asset.tokens.path)">
            <h1>\(title)</h1>
            <p>\(text)</p>
            \(fix)
            </html>
            """
    }
}
