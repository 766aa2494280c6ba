internal import Crypto
package import FoundationEssentials
internal import GotchuCore
package import Ledger

/// An image of a template, identified by the hash of its bytes. Never changed once written.
package struct TemplateImage: Equatable, Sendable {
    /// The stored name of its kind of record.
    package static let kind = "contest-image"
    /// The maximum size, in bytes.
    package static let sizeLimit = 256 * 1024
    /// The path prefix under which images are served.
    package static let folder = "/contest-assets/"

    package let type: Kind
    package let bytes: Data

    private struct Body: Codable {
        let type: Kind
        let base64: String
    }

    /// The image formats. The raw values are the file extensions.
    package enum Kind: String, Codable, CaseIterable, Sendable {
        case png, jpg, svg

        package var mediaType: String {
            switch self {
            case .png: "image/png"
            case .jpg: "image/jpeg"
            case .svg: "image/svg+xml"
            }
        }
    }

    /// - Returns: `nil` if the bytes do not begin like one of these formats, are too many, or are
    ///   an SVG with scripts, links, declarations or embedded HTML.
    package init?(_ bytes: Data) {
        guard bytes.count <= Self.sizeLimit, let type = Self.type(of: bytes) else { return nil }
        self.type = type
        self.bytes = bytes
    }

    private static func type(of bytes: Data) -> Kind? {
        if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return .png }
        if bytes.starts(with: [0xFF, 0xD8, 0xFF]) { return .jpg }
        guard let text = String(bytes: bytes, encoding: .utf8)?.lowercased(),
            text.hasPrefix("<svg") || text.hasPrefix("<?xml"), text.contains("<svg")
        else { return nil }
        let active = ["<script", "javascript:", "<foreignobject", "<!", "href"]
        let handlers = text.matches(of: /\son[a-z]+\s*=/)
        return handlers.isEmpty && !active.contains(where: text.contains) ? .svg : nil
    }

    /// The last component of its path.
    package var name: String {
        "\(SHA256.hash(data: bytes).prefix(16).hex).\(type.rawValue)"
    }

    package var path: String { Self.folder + name }

    /// Returns the id of the record of an image with this name.
    package static func record(_ name: String) -> RecordID {
        RecordID(trusted: computedID("contest-image", name))
    }

    /// - Throws: `LedgerError` with `corrupt` if the record is not a valid image.
    package init(_ record: Record) throws(LedgerError) {
        guard record.kind == Self.kind else { throw .corrupt("an image") }
        let body: Body = try decoded(from: record.body)
        guard let image = Data(base64Encoded: body.base64).flatMap({ Self($0) }),
            image.type == body.type, Self.record(image.name) == record.id
        else { throw .corrupt("an image") }
        self = image
    }

    func record(of owner: UserID, at time: Timestamp) -> Record {
        let body = Body(type: type, base64: bytes.base64EncodedString())
        return Record(immutable: Self.kind, Self.record(name), of: owner, at: time, body)
    }

    /// Returns the name of a colour's gradient, which is generated and not stored.
    static func gradientName(of color: String) -> String { "\(color.dropFirst()).svg" }

    /// Returns the gradient for a template without an image.
    ///
    /// - Returns: `nil` for a name that does not belong to a gradient.
    package static func gradient(_ name: String) -> TemplateImage? {
        let color = name.prefix(6)
        guard name.utf8.count == 10, name.hasSuffix(".svg"),
            color.allSatisfy({ "0123456789abcdef".contains($0) })
        else { return nil }
        let drawing = """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 9">\
            <linearGradient id="g" x2="1" y2="1"><stop stop-color="#\(color)"/>\
            <stop offset="1" stop-color="#\(color)" stop-opacity=".6"/></linearGradient>\
            <path fill="url(#g)" d="M0 0h16v9H0z"/></svg>
            """
        return TemplateImage(Data(drawing.utf8))
    }
}
