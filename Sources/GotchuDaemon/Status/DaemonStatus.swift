import GotchuAPI
import GotchuCore
import LocalAPI
import PaymentClient
import Radio
import ServiceProcess
import Synchronization

/// The daemon's status, composed from its parts. It is published when it changes.
final class DaemonStatus: Sendable {
    private let kind: String
    private let listen: ListenSetting
    private let route: ServerRoute
    private let tokens: TokenStore
    private let hub: EventHub
    private let onChange: @Sendable (StatusReply) -> Void
    private let state: Mutex<State>
    /// The lock for publishing a status. An older status is never published after a newer one.
    private let publishing = Mutex(())

    private struct State {
        var radio: RadioState
        var serverCondition = ServerMonitor.Condition.notProbed
        /// The reason why the journal cannot be written; `nil` if it can.
        var journalFailure: JournalFailure?
        var ignored: [IgnoredReason: Int] = [:]
        var unresolvedPayments = 0
        /// The reason why the last reload was refused; `nil` if it was not.
        var reloadProblem: ConfigurationError?
        var isDisplayMissing = false
        /// The addresses that cannot be served, by the keys of their settings.
        var unservedAddresses: [String: LoopbackAddress] = [:]
        var published: StatusReply?
    }

    init(
        radioKind: String,
        listen: ListenSetting,
        route: ServerRoute,
        tokens: TokenStore,
        hub: EventHub,
        onChange: @escaping @Sendable (StatusReply) -> Void
    ) {
        kind = radioKind
        self.listen = listen
        self.route = route
        self.tokens = tokens
        self.hub = hub
        self.onChange = onChange
        state = Mutex(State(radio: RadioState()))
    }

    func apply(radio: RadioState) {
        state.withLock { $0.radio = radio }
        publish()
    }

    func apply(server condition: ServerMonitor.Condition) {
        state.withLock { $0.serverCondition = condition }
        publish()
    }

    /// - Parameter failure: The reason why the journal cannot be written; `nil` if it can.
    func apply(journal failure: JournalFailure?) {
        let isChanged = state.withLock { state in
            defer { state.journalFailure = failure }
            return state.journalFailure != failure
        }
        if isChanged { publish() }
    }

    func apply(ignored: [IgnoredReason: Int]) {
        state.withLock { $0.ignored = ignored }
    }

    /// - Parameter unresolvedPayments: The number of open payments and refunds that a person should
    ///   know of.
    func apply(unresolvedPayments: Int) {
        let isChanged = state.withLock { state in
            defer { state.unresolvedPayments = unresolvedPayments }
            return state.unresolvedPayments != unresolvedPayments
        }
        if isChanged { publish() }
    }

    func apply(reloadProblem: ConfigurationError?) {
        state.withLock { $0.reloadProblem = reloadProblem }
        publish()
    }

    func apply(isDisplayMissing: Bool) {
        state.withLock { $0.isDisplayMissing = isDisplayMissing }
        publish()
    }

    /// - Parameter setting: The key of the address's setting.
    func apply(isServed: Bool, _ setting: String, at address: LoopbackAddress) {
        state.withLock { $0.unservedAddresses[setting] = isServed ? nil : address }
        publish()
    }

    /// Publishes the status if it has changed. The latency and the counts of ignored advertisements
    /// are not compared.
    func publish() {
        publishing.withLock { _ in
            let whole = reply
            var now = whole
            now.radio.ignored = [:]
            now.server.latencyMilliseconds = nil
            let isChanged = state.withLock { state in
                defer { state.published = now }
                return state.published != now
            }
            guard isChanged else { return }
            onChange(whole)
            hub.publish(.statusChanged(whole))
        }
    }

    /// The state that the radio last reported.
    var radioState: RadioState { state.withLock(\.radio) }

    /// The complete current status.
    var reply: StatusReply {
        let state = state.withLock(\.self)
        let health = health(state)
        let isReady = !health.contains { $0.severity == .error }
        return StatusReply(
            isReady: isReady,
            summary: summary(state, health),
            version: GotchuVersion.current,
            radio: RadioStatus(
                kind: kind,
                adapter: state.radio.adapter,
                address: state.radio.address,
                bluezVersion: state.radio.bluezVersion,
                isScanning: state.radio.isScanning,
                listening: ListeningStatus(
                    setting: listen,
                    isWanted: state.radio.isListeningWanted
                ),
                transport: state.radio.transport?.rawValue,
                transportNote: state.radio.transportNote,
                advertising: state.radio.advertising.sorted(),
                advertisingCapacity: state.radio.advertisingCapacity,
                ignored: Dictionary(
                    uniqueKeysWithValues: state.ignored.map { ($0.key.rawValue, $0.value) }
                )
            ),
            server: ServerStatus(
                url: route.server.description,
                isReachable: state.serverCondition.isReady,
                latencyMilliseconds: state.serverCondition.latency.map {
                    Int($0.wholeMilliseconds)
                },
                isLoggedIn: tokens.token != nil && !tokens.isRefused
            ),
            health: health
        )
    }

    private func summary(_ state: State, _ health: [HealthItem]) -> String {
        let errors = health.filter { $0.severity == .error }
        if let first = errors.first {
            let more = errors.count > 1 ? " (and \(errors.count - 1) more)" : ""
            return "Not ready · \(first.text)\(more)"
        }
        let latency =
            state.serverCondition.latency.map { "\($0.wholeMilliseconds) ms" } ?? "not asked"
        return "Ready · adapter \(state.radio.adapter ?? "none") · server \(route.server) "
            + "reachable (\(latency))"
    }

    private func health(_ state: State) -> [HealthItem] {
        var items: [HealthItem] = []
        if let problem = state.radio.problem {
            items.append(
                HealthItem(
                    code: problem.code.rawValue,
                    severity: .error,
                    text: problem.sentence,
                    fix: problem.fix
                )
            )
        } else if state.radio.adapter == nil {
            items.append(.radioStarting)
        }
        if state.radio.isTransportDegraded, let note = state.radio.transportNote {
            items.append(.transportLost(note))
        }
        switch state.serverCondition {
        case .ready: break
        case .notProbed: items.append(.serverNotProbed)
        case .outage(let outage): items.append(.server(route, outage))
        case .callsFail(let outage): items.append(.callsFail(route.server, outage))
        }
        if let failure = state.journalFailure { items.append(.journalUnwritable(failure)) }
        if tokens.token == nil { items.append(.notLoggedIn(from: tokens.origin)) }
        if tokens.isRefused { items.append(.loginRefused(tokens)) }
        if state.unresolvedPayments > 0 {
            items.append(.paymentsUnresolved(state.unresolvedPayments))
        }
        if !route.server.isPrivate { items.append(.serverNotEncrypted(route.server)) }
        for (setting, address) in state.unservedAddresses.sorted(by: { $0.key < $1.key }) {
            items.append(.portUnavailable(setting, address))
        }
        if state.isDisplayMissing, state.unservedAddresses["screens.display"] == nil {
            items.append(.displayMissing)
        }
        if let problem = state.reloadProblem { items.append(.reloadRefused(problem)) }
        return items
    }
}

extension ServerMonitor.Condition {
    fileprivate var isReady: Bool? {
        switch self {
        case .notProbed: nil
        case .ready: true
        case .outage, .callsFail: false
        }
    }

    fileprivate var latency: Duration? {
        if case .ready(let latency) = self { latency } else { nil }
    }
}
