import GotchuAPI
import HTTPTypes
import LocalAPI

/// Admits requests from the screen's own page, or from a person who typed its address.
///
/// A page of another origin can send requests to loopback. A page whose name resolves to loopback
/// (DNS rebinding) can also read the replies. Both are recognized by headers that a page cannot
/// change.
struct SameOriginCheck {
    /// The only accepted `Host`, such as `127.0.0.1:7465`.
    let authority: String

    /// - Parameter port: The port on 127.0.0.1 that is served.
    init(port: Int) {
        // Browsers omit the default port of the scheme.
        authority = port == 80 ? "127.0.0.1" : "127.0.0.1:\(port)"
    }

    func admit(_ request: HTTPRequest) throws(Problem) {
        let fields = request.headerFields
        // The first `Host` is in `authority`, so this is a second one. RFC 9112, 3.2 forbids two.
        guard fields[Self.host] == nil else {
            throw Problem.invalid("A request names one host.")
        }
        guard request.authority == authority, isOwn(fields[values: Self.fetchSite]) else {
            throw Self.foreign
        }
        let origins = fields[values: .origin]
        guard origins.allSatisfy({ $0 == "http://\(authority)" }) else { throw Self.foreign }
        switch request.method {
        case .get, .head:
            guard fields[.contentLength].map({ $0 == "0" }) ?? true,
                fields[.transferEncoding] == nil
            else {
                throw Problem.invalid("A \(request.method.rawValue) has no body here.")
            }
        default:
            guard origins.count == 1 else { throw Self.foreign }
            // A page of another origin can send all other types without a preflight request.
            guard fields[values: .contentType].map(Self.mediaType) == ["application/json"] else {
                throw Problem(
                    .unsupportedMediaType,
                    detail: "This address takes application/json only."
                )
            }
        }
    }

    /// Returns true if all values are from the own page, or `none`, which a browser sends only for
    /// an address that a person typed.
    private func isOwn(_ sites: [String]) -> Bool {
        sites.allSatisfy { $0 == "same-origin" || $0 == "none" }
    }

    private static func mediaType(_ field: String) -> String {
        field.prefix { $0 != ";" && $0 != " " }.lowercased()
    }

    private static let foreign = Problem(
        .browserRefused,
        detail: "Requests of other pages, and to other names than 127.0.0.1, are refused."
    )
    private static let fetchSite = HTTPField.Name.valid("Sec-Fetch-Site")
    private static let host = HTTPField.Name.valid("Host")
}
