internal import AsyncHTTPClient
internal import FoundationEssentials
internal import NIOCore
internal import NIOHTTP1
internal import OutboundHTTP

/// The location of an issuer's keys: a URL or a file.
enum KeySource: Equatable, Sendable {
    case file(String)
    case url(String)

    /// The timeout of a fetch, up to the last byte.
    private static let limit: TimeAmount = .seconds(5)

    /// Parses an `https` URL, an `http` URL of this machine, or a path.
    ///
    /// Other `http` URLs are refused, because the keys could be replaced in transit.
    init?(_ text: String) {
        guard let scheme = text.firstRange(of: "://") else {
            guard !text.isEmpty else { return nil }
            self = .file(text)
            return
        }
        let host = text[scheme.upperBound...].prefix { $0 != "/" && $0 != ":" && $0 != "?" }
        switch text[..<scheme.lowerBound] {
        case "https" where !host.isEmpty && !host.contains("@"):
            self = .url(text)
        case "http" where host == "localhost" || host == "127.0.0.1":
            self = .url(text)
        default:
            return nil
        }
    }

    /// The configuration of the HTTP client for fetches.
    static var httpConfiguration: HTTPClient.Configuration {
        .outbound(connect: limit, read: limit)
    }

    /// Loads the bytes of the set.
    func load(_ http: HTTPClient) async throws -> [UInt8] {
        switch self {
        case .file(let path):
            let data = try Data(contentsOf: URL(filePath: path))
            return [UInt8](data.prefix(KeySet.sizeLimit + 1))
        case .url(let url):
            var request = HTTPClientRequest(url: url)
            request.headers.add(name: "Accept", value: "application/jwk-set+json, application/json")
            let response = try await http.execute(request, timeout: Self.limit)
            guard response.status == .ok else {
                throw KeySet.Unusable("HTTP \(response.status.code) came instead.")
            }
            let body = try await response.body.collect(upTo: KeySet.sizeLimit)
            return [UInt8](buffer: body)
        }
    }
}
