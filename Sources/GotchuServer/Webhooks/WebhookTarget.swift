/// A webhook's URL together with the one address that may be called for it.
struct WebhookTarget: Equatable, Sendable {
    let url: WebhookURL
    let address: NetworkAddress

    /// The reason why a URL may not be called.
    struct Refusal: Error, Equatable {
        /// A constant sentence.
        let sentence: String
    }

    /// Checks a URL with the addresses that its name has at this moment; the call then goes to that
    /// address and no other, so that the name cannot be pointed elsewhere in between.
    ///
    /// - Parameters:
    ///   - isDevelopment: True if this machine itself may be called, and without TLS.
    ///   - addresses: The addresses of its host.
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
