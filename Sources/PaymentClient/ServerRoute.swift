package import AsyncHTTPClient
import NIOSSL

/// The route to a payment server: its address, the trusted certificates, and the proxy.
package struct ServerRoute: Equatable, Sendable {
    package let server: ServerURL
    /// A PEM file of certificates that are trusted in addition to the system's.
    package let caFile: String?
    /// The proxy; `nil` for a direct connection.
    package let proxy: ProxyURL?

    package init(server: ServerURL, caFile: String? = nil, proxy: ProxyURL? = nil) {
        self.server = server
        self.caFile = caFile
        self.proxy = proxy
    }

    /// Returns `PaymentClient.httpConfiguration` with this route's proxy and certificates.
    ///
    /// - Throws: An error if the certificates cannot be read.
    package func httpConfiguration() throws -> HTTPClient.Configuration {
        var configuration = PaymentClient.httpConfiguration
        if let caFile {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.additionalTrustRoots = [
                .certificates(try NIOSSLCertificate.fromPEMFile(caFile))
            ]
            configuration.tlsConfiguration = tls
        }
        configuration.proxy = proxy.map { .server(host: $0.host, port: $0.port) }
        return configuration
    }
}

/// The URL of an HTTP proxy: `http://`, a host and a port. The client sends CONNECT to it, even for
/// plain HTTP. The proxy cannot read the content of TLS connections.
package struct ProxyURL: Hashable, Sendable, CustomStringConvertible {
    package let description: String
    /// The host, without the brackets of an IPv6 address.
    package let host: String
    package let port: Int

    /// Parses a URL; `nil` for any other form, for example with a path or user information.
    package init?(_ text: String) {
        guard let url = ServerURL(text), let port = url.port,
            text == "http://\(url.host):\(port)"
        else { return nil }
        description = text
        host = String(url.host.drop { $0 == "[" }.prefix { $0 != "]" })
        self.port = Int(port)
    }
}
