package import DBus
import Synchronization

/// Follows bluetoothd over one connection: who it is, which adapters it has, what it hears.
///
/// What bluetoothd signals is reported on the connection's thread as it is read. Only while
/// bluetoothd is being asked for its objects do signals wait, in their order.
package final class BlueZSession: Sendable {
    /// What has changed.
    package enum Event {
        /// bluetoothd came up under this unique name, or went away. What was registered with an
        /// earlier one is gone.
        case daemon(owner: String?)
        /// bluetoothd has its name and says nothing about its objects.
        case notAnswering
        /// Signals were lost. What they said is made good for adapters by the event that follows;
        /// what became of anything else meanwhile is not known.
        case signalsLost
        /// All adapters as they are now.
        case adapters([AdapterState])
        case heard(DeviceReport)
        /// The adapter at this path heard a stranger.
        case noise(ObjectPath)
    }

    private let connection: Connection
    private let callTimeout: Duration
    private let hearsDevices: Bool
    private let pause: Duration
    private let report: @Sendable (Event) -> Void
    private let state: Mutex<State>

    private struct State {
        var tree: ObjectTree
        /// bluetoothd's unique name. Signals from anybody else are not bluetoothd's, whatever they
        /// say.
        var owner: String?
        /// What must be done before a signal can be taken where it is read: at first to find
        /// bluetoothd, then signals that wait for their turn.
        var waiting = 1
        /// Of those that waited, how many were lost.
        var dropped = 0

        /// - Returns: what bluetoothd says with a signal; `nil` if nothing, or it is not
        ///   bluetoothd's.
        mutating func read(_ signal: Signal) -> Event? {
            guard let owner, signal.sender == owner else { return nil }
            return switch tree.apply(signal) {
            case .adapters: .adapters(sortedAdapters)
            case .heard(let device): .heard(device)
            case .noise(let adapter): .noise(adapter)
            case nil: nil
            }
        }

        var sortedAdapters: [AdapterState] {
            tree.adapters.values.sorted { $0.path.text < $1.path.text }
        }
    }

    /// Signals that wait for us. A busy place has some hundred per second, a snapshot takes a
    /// fraction of one.
    package static let signalLimit = 4096

    /// - Parameters:
    ///   - hearsDevices: `false` where somebody else hears the devices: then nobody works for each
    ///     advertisement here, and only new devices are reported.
    ///   - pause: between attempts to get a snapshot from a bluetoothd that has its name and does
    ///     not show its objects yet.
    ///   - report: told each event, on the connection's thread or the task that follows; never
    ///     two at a time if that task runs on the same thread.
    package init(
        connection: Connection,
        serviceUUID: UUID16,
        hearsDevices: Bool = true,
        callTimeout: Duration = BlueZPeer.usualTimeout,
        pause: Duration = .milliseconds(250),
        report: @escaping @Sendable (Event) -> Void
    ) {
        self.connection = connection
        self.hearsDevices = hearsDevices
        self.callTimeout = callTimeout
        self.pause = pause
        self.report = report
        state = Mutex(State(tree: ObjectTree(serviceUUID: serviceUUID)))
    }

    /// Reports everything until the connection ends or the task is cancelled.
    package func follow() async throws(DBusError) {
        // One subscription, so that the signals keep their order; before anything is asked, so that
        // none is missed.
        var rules: [MatchRule] = [
            .ownerChanges(of: BlueZ.busName),
            Self.rule(BlueZ.objectManagerInterface, "InterfacesAdded"),
            Self.rule(BlueZ.objectManagerInterface, "InterfacesRemoved"),
            Self.rule(BlueZ.propertiesInterface, "PropertiesChanged", BlueZ.adapterInterface),
        ]
        if hearsDevices {
            rules.append(
                Self.rule(BlueZ.propertiesInterface, "PropertiesChanged", BlueZ.deviceInterface)
            )
        }
        let subscription = try await connection.subscribe(rules, limit: Self.signalLimit) {
            [weak self] signal in self?.takeAtOnce(signal) ?? false
        }
        try await take(owner: connection.owner(of: BlueZ.busName))
        settle(subscription)
        var losses = SignalLosses(bufferLimit: Self.signalLimit)
        for await signal in subscription.signals {
            if losses.isRecoveryDue(dropped: subscription.dropped) {
                try await recover()
            } else {
                try await take(signal)
            }
            settle(subscription)
        }
        await connection.unsubscribe(subscription)
    }

    /// Takes a signal where it was read, unless something before it is still to be done.
    ///
    /// - Returns: whether it was taken; if not, it waits for its turn.
    private func takeAtOnce(_ signal: Signal) -> Bool {
        let taken: Event?? = state.withLock { state in
            guard state.waiting == 0, signal.sender != Bus.name else {
                state.waiting += 1
                return nil
            }
            return .some(state.read(signal))
        }
        guard let taken else { return false }
        if let event = taken { report(event) }
        return true
    }

    /// The oldest of what waited has had its turn, and what was lost meanwhile never will.
    private func settle(_ subscription: SignalSubscription) {
        let dropped = subscription.dropped
        state.withLock { state in
            state.waiting -= 1 + dropped - state.dropped
            state.dropped = dropped
        }
    }

    private func take(_ signal: Signal) async throws(DBusError) {
        if let newOwner = MatchRule.newOwner(of: BlueZ.busName, in: signal) {
            if newOwner != owner { try await take(owner: newOwner) }
        } else if let event = state.withLock({ $0.read(signal) }) {
            report(event)
        }
    }

    /// Makes up for lost signals: with them it may have been said that an adapter went away, or
    /// bluetoothd itself. The same bluetoothd still has all that was registered with it.
    private func recover() async throws(DBusError) {
        let current = try await connection.owner(of: BlueZ.busName)
        guard current == owner, let current else { return try await take(owner: current) }
        report(.signalsLost)
        try await load(from: current)
    }

    private func take(owner: String?) async throws(DBusError) {
        state.withLock { state in
            state.owner = owner
            state.tree.clear()
        }
        report(.daemon(owner: owner))
        if let owner { try await load(from: owner) }
    }

    /// Asks for all objects until they come, or bluetoothd is another.
    private func load(from owner: String) async throws(DBusError) {
        while !Task.isCancelled {
            do {
                // Addressed to the owner, not the name: a later one must not answer for it.
                let objects = try await connection.call(
                    MethodCall(
                        to: owner,
                        path: .root,
                        interface: BlueZ.objectManagerInterface,
                        member: "GetManagedObjects"
                    ),
                    timeout: callTimeout
                )
                let adapters = state.withLock { state in
                    state.tree.load(objects)
                    return state.sortedAdapters
                }
                report(.adapters(adapters))
                return
            } catch  where error.code == .closed || error.code == .cancelled {
                throw error
            } catch {
                guard try await connection.owner(of: BlueZ.busName) == owner else { return }
                // It has been waited for already.
                if error.code == .timedOut {
                    report(.notAnswering)
                } else {
                    // The same bluetoothd refused: nothing tells when it would not, so it is asked
                    // again, and not in a tight loop. A cancellation shows at the next call.
                    try? await Task.sleep(for: pause)
                }
            }
        }
    }

    private var owner: String? { state.withLock(\.owner) }

    private static func rule(
        _ interface: String,
        _ member: String,
        _ firstArgument: String? = nil
    ) -> MatchRule {
        MatchRule(
            sender: BlueZ.busName,
            interface: interface,
            member: member,
            firstArgument: firstArgument
        )
    }
}
