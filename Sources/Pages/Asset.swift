/// A style sheet, script or picture that pages load from their own origin.
///
/// Its address contains a hash of its bytes. Browsers can therefore cache it permanently, and still
/// load a new version at once after an upgrade.
package struct Asset: Sendable {
    /// The media type.
    package let type: String
    package let bytes: [UInt8]
    /// The path, such as `/assets/tokens.1f2e3d4c5b6a7988.css`.
    package let path: String

    /// - Parameter imports: The modules that a script imports, by name. Their names in the script
    ///   are replaced by their paths.
    private init(_ name: String, _ bytes: [UInt8], imports: [String: Asset] = [:]) {
        let parts = name.split(separator: ".", maxSplits: 1)
        type =
            switch parts.last {
            case "css": "text/css; charset=utf-8"
            case "js": "text/javascript; charset=utf-8"
            case "svg": "image/svg+xml"
            case "png": "image/png"
            case "jpg": "image/jpeg"
            default: preconditionFailure("a type for \(name)")
            }
        let bytes = imports.reduce(bytes) { bytes, module in
            let (name, address) = (Array("\"./\(module.key)\"".utf8), "\"\(module.value.path)\"")
            return bytes.replacing(name, with: Array(address.utf8))
        }
        self.bytes = bytes
        path = "/assets/\(parts[0]).\(Self.hash(bytes)).\(parts[1])"
    }

    /// Returns the 64-bit FNV-1a hash in hexadecimal (RFC 9923). It distinguishes versions. It is
    /// not cryptographic.
    static func hash(_ bytes: [UInt8]) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// The maximum size of a logo, in bytes.
    private static let logoLimit = 512 * 1024
    private static let logos: [(name: String, start: [UInt8])] = [
        ("logo.png", [0x89, 0x50, 0x4E, 0x47]), ("logo.jpg", [0xFF, 0xD8, 0xFF]),
        ("logo.svg", Array("<svg".utf8)), ("logo.svg", Array("<?xml".utf8)),
    ]

    /// Creates a shop's logo from a PNG, JPEG or SVG file; `nil` if it is too large or has another
    /// format.
    package init?(logo bytes: [UInt8]) {
        guard bytes.count <= Self.logoLimit,
            let name = Self.logos.first(where: { bytes.starts(with: $0.start) })?.name
        else { return nil }
        self.init(name, bytes)
    }

    /// The value of the `Cache-Control` header for assets.
    package static let caching = "public, max-age=31536000, immutable"
}

extension Asset {
    /// The style sheet that all pages share: colours, fonts and common rules.
    package static let tokens = Asset("tokens.css", PackageResources.tokens_css)

    /// The icon of the pages in a browser tab.
    package static let icon = Asset("icon.svg", PackageResources.icon_svg)
    /// The style sheet of the merchant's and the payer's pages.
    package static let web = Asset("web.css", PackageResources.web_css)

    /// The style sheet of the payer's pages, used in addition to `web`.
    package static let pay = Asset("pay.css", PackageResources.pay_css)

    /// The script that refreshes the merchant's and the payer's pages.
    package static let refreshScript = Asset("renewal.js", PackageResources.renewal_js)

    package static let till = Asset("till.css", PackageResources.till_css)
    private static let money = Asset("money.js", PackageResources.money_js)
    private static let tillLink = Asset("till-link.js", PackageResources.till_link_js)
    private static let tillRows = Asset(
        "till-rows.js",
        PackageResources.till_rows_js,
        imports: ["money.js": money]
    )
    private static let tillDialogs = Asset(
        "till-dialogs.js",
        PackageResources.till_dialogs_js,
        imports: ["money.js": money, "till-link.js": tillLink, "till-rows.js": tillRows]
    )
    static let tillScript = Asset(
        "till.js",
        PackageResources.till_js,
        imports: [
            "money.js": money, "till-link.js": tillLink, "till-rows.js": tillRows,
            "till-dialogs.js": tillDialogs,
        ]
    )
    static let displayStyle = Asset("display.css", PackageResources.display_css)
    static let displayScript = Asset("display.js", PackageResources.display_js)

    /// All assets, by their paths.
    package static let all: [String: Asset] =
        Dictionary(
            uniqueKeysWithValues: [
                tokens, icon, web, pay, refreshScript, till, money, tillLink, tillRows, tillDialogs,
                tillScript,
                displayStyle, displayScript,
            ].map { ($0.path, $0) }
        )
}
