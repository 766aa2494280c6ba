package import DBus
import Logging

/// Follows bluetoothd over one connection: who it is, which adapters it has, what it hears.
package struct BlueZSession {
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
    private var tree: ObjectTree
    /// bluetoothd's unique name. Signals from anybody else are not bluetoothd's, whatever they say.
    private var owner: String?

    /// Signals that wait for us. A busy place has some hundred per second, a snapshot takes a
    /// fraction of one.
    package static let signalLimit = 4096

    /// - Parameters:
    ///   - hearsDevices: `false` where somebody else hears the devices: then nobody works for each
    ///     advertisement here, and only new devices are reported.
    ///   - pause: between attempts to get a snapshot from a bluetoothd that has its name and does
    ///     not show its objects yet.
    package init(
        connection: Connection,
        serviceUUID: UUID16,
        hearsDevices: Bool = true,
        callTimeout: Duration = BlueZPeer.usualTimeout,
        pause: Duration = .milliseconds(250)
    ) {
        self.connection = connection
        self.hearsDevices = hearsDevices
        self.callTimeout = callTimeout
        self.pause = pause
        tree = ObjectTree(serviceUUID: serviceUUID)
    }

    /// Reports everything until the connection ends or the task is cancelled.
    package mutating func follow(_ report: (Event) -> Void) async throws(DBusError) {
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
        let subscription = try await connection.subscribe(rules, limit: Self.signalLimit)
        try await take(owner: connection.owner(of: BlueZ.busName), report)
        var losses = SignalLosses(bufferLimit: Self.signalLimit)
        for await signal in subscription.signals {
            if losses.isRecoveryDue(dropped: subscription.dropped) {
                try await recover(report)
            } else {
                try await take(signal, report)
            }
        }
        await connection.unsubscribe(subscription)
    }

    private mutating func take(
        _ signal: Signal,
        _ report: (Event) -> Void
    ) async throws(DBusError) {
        if let newOwner = MatchRule.newOwner(of: BlueZ.busName, in: signal) {
            if newOwner != owner { try await take(owner: newOwner, report) }
        } else if let owner, signal.sender == owner {
            switch tree.apply(signal) {
            case .adapters: report(.adapters(sortedAdapters))
            case .heard(let device): report(.heard(device))
            case .noise(let adapter): report(.noise(adapter))
            case nil: break
            }
        }
    }

    /// Makes up for lost signals: with them it may have been said that an adapter went away, or
    /// bluetoothd itself. The same bluetoothd still has all that was registered with it.
    private mutating func recover(_ report: (Event) -> Void) async throws(DBusError) {
        let current = try await connection.owner(of: BlueZ.busName)
        guard current == owner, let current else { return try await take(owner: current, report) }
        report(.signalsLost)
        try await load(from: current, report)
    }

    private mutating func take(
        owner: String?,
        _ report: (Event) -> Void
    ) async throws(DBusError) {
        self.owner = owner
        tree.clear()
        report(.daemon(owner: owner))
        if let owner { try await load(from: owner, report) }
    }

    /// Asks for all objects until they come, or bluetoothd is another.
    private mutating func load(
        from owner: String,
        _ report: (Event) -> Void
    ) async throws(DBusError) {
        while !Task.isCancelled {
            do {
                // Addressed to the owner, not the name: a later one must not answer for it.
                tree.load(
                    try await connection.call(
                        MethodCall(
                            to: owner,
                            path: .root,
                            interface: BlueZ.objectManagerInterface,
                            member: "GetManagedObjects"
                        ),
                        timeout: callTimeout
                    )
                )
                report(.adapters(sortedAdapters))
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

    private var sortedAdapters: [AdapterState] {
        tree.adapters.values.sorted { $0.path.text < $1.path.text }
    }

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
