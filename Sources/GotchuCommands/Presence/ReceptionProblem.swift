import GotchuAPI
import LocalAPI

extension StatusReply {
    /// Why nothing can be heard now; `nil` while the radio listens.
    var receptionProblem: HealthItem? {
        guard !radio.isScanning else { return nil }
        return rootCauses.first { $0.severity == .error && $0.isOfRadio }
    }
}

extension HealthItem {
    /// Whether it is about the radio, and neither about the payment server nor the person.
    fileprivate var isOfRadio: Bool {
        !["server-", "login-", "not-logged-in", "payment-", "configuration-"]
            .contains { code.hasPrefix($0) }
    }

    /// What a person is told who waits for something to be heard.
    var receptionText: String { "Nothing can be heard: \(text.printable)" }
}

extension LocalClient {
    /// What it means that nothing was heard in time.
    ///
    /// - Parameter usual: Unless the radio does not listen at all.
    func silence(orElse usual: CommandFailure) async -> CommandFailure {
        guard let receptionProblem = try? await status().receptionProblem else { return usual }
        return .inputOutput(receptionProblem.receptionText, next: receptionProblem.fix.printable)
    }
}
