package import GotchuCore

/// The position of the antenna relative to the middle of the display. Customers hold their phone to
/// it.
package enum AntennaPosition: String, CaseIterable, Sendable {
    case below, above, left, right
}

/// The customer's display. Its script draws the states that gotchud sends. The page also contains
/// the texts for a display that receives nothing.
package struct DisplayPage: Sendable {
    /// The appearance of one shop's display.
    package struct Appearance: Equatable, Sendable {
        /// The shop's name as customers know it.
        package var shop: String?
        /// The shop's language; then optionally a second one, for headlines.
        package var languages: [Language] = [.english]
        /// The scale factor of all sizes.
        package var textScale = 1.0
        package var antenna = AntennaPosition.below
        /// A Boolean that is false if animations are disabled.
        package var hasMotion = true
        /// A Boolean that is true if two tones are played for a payment.
        package var hasSound = false

        package init() {}
    }

    package let appearance: Appearance
    package let logo: Asset?
    package let html: HTML
    /// The id of this version of the page: a hash of its own bytes and of the assets' addresses.
    package let build: String

    package init(_ appearance: Appearance, logo: Asset?) {
        self.appearance = appearance
        self.logo = logo
        build = Asset.hash(Array(Self.html(appearance, logo, build: "").source.utf8))
        html = Self.html(appearance, logo, build: build)
    }

    private static func html(_ appearance: Appearance, _ logo: Asset?, build: String) -> HTML {
        let words = DisplayText(DisplayView(.offline), in: appearance.languages)
        let still: HTML = appearance.hasMotion ? "" : " data-still"
        let sound: HTML = appearance.hasSound ? " data-sound" : ""
        let picture = logo.map { logo -> HTML in
            "<img class=\"logo\" src=\"\(logo.path)\" alt=\"\">"
        }
        return """
            <!doctype html>
            <html lang="\(words.language.rawValue)" dir="\(words.isRightToLeft ? "rtl" : "ltr")">
            <meta charset="utf-8">
            <title>gotchu</title>
            <meta name="viewport" content="width=device-width">
            <link rel="icon" href="\(Asset.icon.path)">
            <link rel="stylesheet" href="\(Asset.tokens.path)">
            <link rel="stylesheet" href="\(Asset.displayStyle.path)">
            <script type="module" src="\(Asset.displayScript.path)"></script>
            <body data-state="starting" data-build="\(build)" \
            data-scale="\("\(appearance.textScale)")" \
            data-antenna="\(appearance.antenna.rawValue)" data-shop="\(appearance.shop ?? "")" \
            data-offline="\(DisplayState.offlineDelay.wholeMilliseconds)" \
            data-closed="\(DisplayState.closedDelay.wholeMilliseconds)"\(still)\(sound)>
            <main class="screen">
            <header class="bar">\
            <span class="shop" id="shop" dir="auto">\(appearance.shop ?? "")</span>\
            <time class="clock" id="clock"></time></header>
            <section class="words" aria-live="polite" aria-atomic="true">
            \(picture)
            <svg class="sign" id="sign" viewBox="0 0 24 24" aria-hidden="true" hidden>\
            <path id="sign-path"/></svg>
            <p class="amount" hidden><bdi id="amount"></bdi></p>
            <p class="tip" id="tip"></p>
            <p class="memo" id="memo" dir="auto"></p>
            <h1 class="head" id="head"></h1>
            <p class="line" id="line"></p>
            <p class="second"><bdi id="second"></bdi></p>
            <p class="note" id="note"></p>
            <footer class="foot"><div class="left" id="left" aria-live="off" hidden>\
            <span class="track"><span class="fill" id="fill"></span></span>
            <span><b id="left-text"></b> <span id="left-label"></span></span></div>
            <p class="code" id="code" hidden><b id="code-text"></b> <span id="code-label"></span>\
            </p></footer>
            </section>
            \(scene)
            </main>
            \(own(.offline, appearance))
            \(own(.closed, appearance))
            </body>
            </html>
            """
    }

    /// The picture that shows the place for the phone; hidden from screen readers.
    private static let scene: HTML = """
        <aside class="scene" aria-hidden="true">
        <svg class="picture" viewBox="0 0 240 240" fill="none" stroke="currentColor" \
        stroke-width="9" stroke-linecap="round" stroke-linejoin="round">
        <g class="waves"><path d="M101.6 209.6a26 26 0 0 1 36.8 0"/>\
        <path d="M84.6 192.6a50 50 0 0 1 70.8 0"/>\
        <path d="M67.7 175.7a74 74 0 0 1 104.6 0"/></g>
        <g class="phone"><rect x="86" y="14" width="68" height="122" rx="15"/>\
        <path d="M112 32h16"/><path class="tick" d="M104 78l12 13 22-27"/>\
        <path class="dots" d="M102 76v.1M120 76v.1M138 76v.1"/></g>
        <path class="spot" d="M58 232h124"/>
        </svg>
        <p class="here" id="here"></p>
        <figure class="pay" id="pay" hidden><svg id="qr" shape-rendering="crispEdges">\
        <path id="qr-path" fill="currentColor"/></svg><figcaption id="scan"></figcaption></figure>
        </aside>
        """

    /// The texts of a state that the page can enter without a message from gotchud.
    private static func own(_ state: DisplayState, _ appearance: Appearance) -> HTML {
        let text = DisplayText(DisplayView(state), in: appearance.languages)
        return """
            <div id="words-\(state.rawValue)" hidden data-headline="\(text.headline)" \
            data-line="\(text.line ?? "")" data-second="\(text.second ?? "")" \
            data-second-language="\(text.secondLanguage?.rawValue ?? "")" \
            data-language="\(text.language.rawValue)" \
            data-direction="\(text.isRightToLeft ? "rtl" : "ltr")"></div>
            """
    }
}
