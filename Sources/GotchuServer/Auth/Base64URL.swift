internal import FoundationEssentials

/// Base64 for tokens: the URL's alphabet without padding (RFC 4648, 5; RFC 7515, 2).
enum Base64URL {
    static func encode(_ bytes: some Sequence<UInt8>) -> String {
        Data(bytes).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// - Returns: `nil` for anything but the one spelling of some bytes: a token must not have two.
    static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var base64 = String(text).replacing("-", with: "+").replacing("_", with: "/")
        base64 += String(repeating: "=", count: (4 - base64.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: base64), encode(data) == text else {
            return nil
        }
        return [UInt8](data)
    }
}
