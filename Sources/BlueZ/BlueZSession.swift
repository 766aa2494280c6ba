package import DBus

/// Follows bluetoothd over one connection: its unique name, its adapters, and the devices it hears.
///
/// Runs on the connection's thread. Each signal and each snapshot is applied as it is read, in the
/// bus's order: a snapshot is newer than the signals before it and older than those after it.
package actor BlueZSession {
    /// A change.
    package enum Event: Equatable, Sendable {
        /// bluetoothd started under this unique name, or went away. Everything registered with an
        /// earlier one is gone.
        case daemon(owner: String?)
        /// bluetoothd owns its bus name but does not answer GetManagedObjects.
        case notAnswering
        /// The current state of all adapters.
        case adapters([AdapterState])
        /// A device that is new to bluetoothd; or an advertisement of a device with service data of
        /// ours, our UUID or a name.
        case heard(DeviceReport)
        /// The adapter at this path received an advertisement of a known device without such data.
        case otherAdvertisement(adapter: ObjectPath)
    }

    private nonisolated let connection: Connection
    private let callTimeout: Duration
    private let receivesDevices: Bool
    private let pause: Duration
    private let onEvent: @Sendable (Event) -> Void
    private var tree: ObjectTree
    /// bluetoothd's unique name. Signals from any other sender are ignored.
    private var owner: String?
    /// A Boolean that is true once the bus has reported the owner of bluetoothd's name.
    private var isOwnerKnown = false
    /// A Boolean that is true once the owner's objects are loaded.
    private var isLoaded = false
    private var ownerChanges: AsyncStream<Void>.Continuation?

    /// - Parameters:
    ///   - receivesDevices: False if devices are heard over the management socket: then
    ///     advertisements cause no work here, and only new devices are reported.
    ///   - pause: The pause between attempts to get a snapshot from a bluetoothd that owns its bus
    ///     name but does not list its objects yet.
    ///   - onEvent: Receives each event on the connection's thread.
    package init(
        connection: Connection,
        serviceUUID: UUID16,
        receivesDevices: Bool = true,
        callTimeout: Duration = BlueZPeer.defaultTimeout,
        pause: Duration = .milliseconds(250),
        onEvent: @escaping @Sendable (Event) -> Void
    ) {
        self.connection = connection
        self.receivesDevices = receivesDevices
        self.callTimeout = callTimeout
        self.pause = pause
        self.onEvent = onEvent
        tree = ObjectTree(serviceUUID: serviceUUID)
    }

    package nonisolated var unownedExecutor: UnownedSerialExecutor { connection.unownedExecutor }

    /// Reports all changes until the task is cancelled. May be called once only.
    ///
    /// - Throws: `closed` if the connection ends during a call, `cancelled` if the task is
    ///   cancelled during a call, and errors of the subscription or of the query for the owner.
    package func follow() async throws(DBusError) {
        let (changes, change) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        ownerChanges = change
        // The subscription comes before any query: nothing is missed then.
        let subscription = try await connection.subscribe(rules) { [weak self] signal in
            self?.assumeIsolated { $0.apply(signal) }
        }
        let current = try await connection.owner(of: BlueZ.busName)
        // An owner that a signal reported meanwhile is the same or newer.
        if !isOwnerKnown { adopt(current) }
        for await _ in changes { try await requestObjects() }
        await connection.unsubscribe(subscription)
    }

    private var rules: [MatchRule] {
        var rules: [MatchRule] = [
            .ownerChanges(of: BlueZ.busName),
            Self.rule(BlueZ.objectManagerInterface, "InterfacesAdded"),
            Self.rule(BlueZ.objectManagerInterface, "InterfacesRemoved"),
            Self.rule(BlueZ.propertiesInterface, "PropertiesChanged", BlueZ.adapterInterface),
        ]
        if receivesDevices {
            rules.append(
                Self.rule(BlueZ.propertiesInterface, "PropertiesChanged", BlueZ.deviceInterface)
            )
        }
        return rules
    }

    private func apply(_ signal: Signal) {
        if let newOwner = MatchRule.newOwner(of: BlueZ.busName, in: signal) {
            if !isOwnerKnown || newOwner != owner { adopt(newOwner) }
            return
        }
        guard let owner, signal.sender == owner else { return }
        guard let event = tree.apply(signal) else { return }
        // Before the snapshot the set of adapters is not known.
        if case .adapters = event, !isLoaded { return }
        onEvent(event)
    }

    private func adopt(_ newOwner: String?) {
        owner = newOwner
        isOwnerKnown = true
        isLoaded = false
        tree.clear()
        onEvent(.daemon(owner: newOwner))
        ownerChanges?.yield()
    }

    /// Requests all objects of bluetoothd until they are loaded, or it is gone.
    private func requestObjects() async throws(DBusError) {
        while !isLoaded, let asked = owner, !Task.isCancelled {
            do {
                // Addressed to the owner, not the name: a later bluetoothd must not answer for it.
                _ = try await connection.call(
                    MethodCall(
                        to: asked,
                        path: .root,
                        interface: BlueZ.objectManagerInterface,
                        member: "GetManagedObjects"
                    ),
                    timeout: callTimeout,
                    onReply: { [weak self] objects in
                        self?.assumeIsolated { $0.applySnapshot(objects, of: asked) }
                    }
                )
            } catch  where error.code == .closed || error.code == .cancelled {
                throw error
            } catch {
                // A new owner is queried at once.
                guard asked == owner else { continue }
                // The call's own timeout was the pause.
                if error.code == .timedOut {
                    onEvent(.notAnswering)
                } else {
                    // The same bluetoothd refused. No event signals when it will answer: retry
                    // after a pause. If the task is cancelled meanwhile, the loop ends.
                    try? await Task.sleep(for: pause)
                }
            }
        }
    }

    private func applySnapshot(_ objects: [Value], of asked: String) {
        guard asked == owner else { return }
        tree.load(objects)
        isLoaded = true
        onEvent(tree.adaptersEvent)
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
