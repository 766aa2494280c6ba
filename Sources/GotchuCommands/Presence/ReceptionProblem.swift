import GotchuAPI
import LocalAPI

extension StatusReply {
    /// The reason why nothing can be heard now; `nil` if the radio listens, or no problem prevents
    /// it.
    var receptionProblem: HealthItem? {
        guard !radio.isScanning else { return nil }
        if radio.listening.setting == .never { return .listeningDisabled }
        return health.first { $0.severity == .error && $0.isOfRadio }
    }
}

extension RadioStatus {
    /// A Boolean that is true if the radio does not listen now, but does on demand.
    var startsListeningOnDemand: Bool { !isScanning && listening.setting == .auto }
}

extension HealthItem {
    fileprivate static let listeningDisabled = HealthItem(
        code: "listens-never",
        severity: .error,
        text: "gotchud does not listen, as the setting 'listen' is 'never'.",
        fix: "Set listen to auto in /etc/gotchu/gotchud.json, and: sudo systemctl restart gotchud"
    )

    /// A Boolean that is true if the item's code belongs to the radio, not to another part.
    fileprivate var isOfRadio: Bool {
        !["server-", "login-", "not-logged-in", "journal-", "payment-", "configuration-"]
            .contains { code.hasPrefix($0) }
    }

    /// The sentence for a person who waits for an advertisement.
    var receptionText: String { "Nothing can be heard: \(text.printable)" }
}

extension LocalClient {
    /// Returns the failure for a wait during which nothing was heard.
    ///
    /// - Parameter fallback: The failure if the radio has no problem, or the daemon does not
    ///   answer.
    func receptionFailure(orElse fallback: CommandFailure) async -> CommandFailure {
        guard let receptionProblem = try? await status().receptionProblem else { return fallback }
        return .inputOutput(receptionProblem.receptionText, next: receptionProblem.fix.printable)
    }
}
