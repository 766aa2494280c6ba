/// A webhook's URL, and the only address that may be called for it.
struct WebhookTarget: Equatable, Sendable {
    let url: WebhookURL
    let address: NetworkAddress

    /// The reason why a URL may not be called.
    struct Refusal: Error, Equatable {
        /// A constant sentence.
        let sentence: String
    }

    /// Checks a URL with the current addresses of its host. The call then goes to the checked
    /// address. A later DNS change has no effect.
    ///
    /// - Parameters:
    ///   - isDevelopment: True if loopback addresses may be called, also without TLS.
    ///   - addresses: The addresses of the URL's host.
    init(
        _ url: WebhookURL,
        isDevelopment: Bool,
        addresses: [NetworkAddress]
    ) throws(Refusal) {
        guard let first = addresses.first else {
            throw Refusal(sentence: "The host has no address.")
        }
        let isHere = addresses.allSatisfy(\.isLoopback)
        guard url.scheme == "https" || (isDevelopment && isHere) else {
            throw Refusal(sentence: "Webhooks go over https only.")
        }
        guard addresses.allSatisfy(\.isPublic) || (isDevelopment && isHere) else {
            throw Refusal(sentence: "The host is not on the open Internet.")
        }
        self.url = url
        address = first
    }
}
