import AsyncHTTPClient
import FoundationEssentials
import PaymentClient
import ServiceProcess

extension DaemonConfiguration {
    var serverRoute: ServerRoute { ServerRoute(server: server, caFile: caFile, proxy: proxy) }

    /// The settings of all calls to the payment server. Reads the CA file.
    func httpConfiguration() throws(ConfigurationError) -> HTTPClient.Configuration {
        do {
            return try serverRoute.httpConfiguration()
        } catch {
            let file = caFile ?? "ca_file"
            let isRead = FileManager.default.contents(atPath: file) != nil
            throw ConfigurationError(
                place: file,
                problem: isRead
                    ? "The file has something else in it than certificates in PEM."
                    : "The file cannot be read: \(ConfigurationFile.readProblem(file))."
            )
        }
    }
}

extension ServerRoute {
    /// A shell command that shows the user the connection on this route.
    var curlCommand: String {
        var words = ["curl", "-sv"]
        if let proxy { words += ["--proxytunnel", "--proxy", proxy.description] }
        if let caFile { words += ["--cacert", caFile] }
        return (words + ["\(server)/readyz"]).map(\.shellQuoted).joined(separator: " ")
    }
}
