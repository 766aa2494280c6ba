/// A style sheet, script or picture that pages load from their own origin.
///
/// Its address has a hash of its bytes, so that browsers may keep it for ever and an upgrade is
/// seen at once.
package struct Asset: Sendable {
    /// The media type.
    package let type: String
    package let bytes: [UInt8]
    /// The path of its address: `/assets/tokens.1f2e3d4c5b6a7988.css`.
    package let path: String

    /// - Parameter imports: The modules that a script imports by their names, for which their
    ///   addresses are put in.
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

    /// The 64-bit FNV-1a hash in hexadecimal (RFC 9923). It tells versions apart and proves
    /// nothing.
    static func hash(_ bytes: [UInt8]) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// The largest logo, in bytes.
    private static let logoLimit = 512 * 1024
    private static let logos: [(name: String, start: [UInt8])] = [
        ("logo.png", [0x89, 0x50, 0x4E, 0x47]), ("logo.jpg", [0xFF, 0xD8, 0xFF]),
        ("logo.svg", Array("<svg".utf8)), ("logo.svg", Array("<?xml".utf8)),
    ]

    /// A shop's picture of a PNG, JPEG or SVG file; `nil` if it is another or too large.
    package init?(logo bytes: [UInt8]) {
        guard bytes.count <= Self.logoLimit,
            let name = Self.logos.first(where: { bytes.starts(with: $0.start) })?.name
        else { return nil }
        self.init(name, bytes)
    }

    /// The value of `Cache-Control` that it is sent with.
    package static let caching = "public, max-age=31536000, immutable"
}

extension Asset {
    /// Colours, type and the rules that every page shares.
    package static let tokens = Asset("tokens.css", PackageResources.tokens_css)

    /// The pages' picture in a browser's tab.
    package static let icon = Asset("icon.svg", PackageResources.icon_svg)
    /// The merchant's and the payer's pages.
    package static let web = Asset("web.css", PackageResources.web_css)

    /// The payer's pages, beside `web`.
    package static let pay = Asset("pay.css", PackageResources.pay_css)

    /// The script that brings the merchant's and the payer's pages up to date.
    package static let renewal = Asset("renewal.js", PackageResources.renewal_js)

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

    /// All that there are, by their paths.
    package static let all: [String: Asset] =
        Dictionary(
            uniqueKeysWithValues: [
                tokens, icon, web, pay, renewal, till, money, tillLink, tillRows, tillDialogs,
                tillScript,
                displayStyle, displayScript,
            ].map { ($0.path, $0) }
        )
}
