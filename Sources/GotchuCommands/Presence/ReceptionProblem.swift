import GotchuAPI
import LocalAPI

extension StatusReply {
    /// The reason why nothing can be heard now; `nil` while the radio listens.
    var receptionProblem: HealthItem? {
        guard !radio.isScanning else { return nil }
        return rootCauses.first { $0.severity == .error && $0.isOfRadio }
    }
}

extension HealthItem {
    /// A Boolean that is true if it concerns the radio, and neither the payment server nor the
    /// person.
    fileprivate var isOfRadio: Bool {
        !["server-", "login-", "not-logged-in", "payment-", "configuration-"]
            .contains { code.hasPrefix($0) }
    }

    /// The sentence for a person who waits for an advertisement.
    var receptionText: String { "Nothing can be heard: \(text.printable)" }
}

extension LocalClient {
    /// Returns the failure for a wait in which nothing was heard.
    ///
    /// - Parameter usual: The failure if the radio does listen.
    func silence(orElse usual: CommandFailure) async -> CommandFailure {
        guard let receptionProblem = try? await status().receptionProblem else { return usual }
        return .inputOutput(receptionProblem.receptionText, next: receptionProblem.fix.printable)
    }
}
