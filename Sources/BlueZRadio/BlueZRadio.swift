package import BlueZ
package import DBus
package import GotchuCore
package import Logging
package import Radio
import ServiceLifecycle

/// The radio of a machine with Bluetooth: bluetoothd over the system bus.
///
/// Maintains the requested scan and advertisements despite failures of the bus, bluetoothd and the
/// adapter. `BlueZPlanner` decides the actions; they are carried out here one at a time.
package actor BlueZRadio: Radio {
    package nonisolated let name: String
    /// The thread on which the whole radio runs. It also reads the bus and the management socket:
    /// an advertisement is processed without waking another thread.
    nonisolated let thread: BusThread

    let serviceUUID: UUID16
    let logger: Logger
    private let address: BusAddress
    var filter = AdvertisementFilter()
    let openManagement: @Sendable () throws(ManagementFailure) -> ManagementSocket
    /// The reader of the kernel's counts; `nil` once the kernel does not provide them.
    var readTraffic: TrafficReader?
    var choice: TransportChoice
    /// The reader of the management socket, while there is one.
    var listener: ManagementListener?
    /// Ends listening to the management socket; `nil` while nothing is listening.
    var closeManagement: (@Sendable () -> Void)?
    /// Yields when listening is requested.
    let wanted = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    /// The current connection to the bus, if its session does not receive devices.
    private var connectionWithoutDevices: Connection?
    var planner: BlueZPlanner
    private var onEvent: RadioListener = { _ in }
    var wakeup = Wakeup()
    private var waiting: [EID: [CheckedContinuation<Void, Never>]] = [:]
    /// bluetoothd's unique name.
    private(set) var daemon: String?
    private var lastState: RadioState?
    var lastAdapter: String?
    private var nextNumber: UInt64 = 0
    /// The objects of the EIDs on the current connection.
    var paths: [EID: RegisteredPath] = [:]
    /// The paths of objects that an earlier bluetoothd knew. They are to be removed from the bus.
    var stalePaths: [ObjectPath] = []
    /// The time until which a refused scan is attributed to the scan of an earlier bluetoothd;
    /// `nil` if there was none, or its end was requested already.
    var staleScanLimit: MonotonicTime?
    /// The previous bluetoothd's unique name, and the number of the connection it was seen on.
    private var lastDaemon: (owner: String, connection: Int)?
    let timings: RecoveryTimings
    private var connections = 0
    /// Alternates: each filter must differ from the one before it.
    var isFloorRaised = false

    /// - Parameters:
    ///   - adapter: `hci0` or its address in capitals, or `nil` for the first that is powered.
    ///   - canPowerCycle: True if the adapter may be switched off and on when nothing else restores
    ///     a scan. A power cycle ends the Bluetooth connections of all programs.
    ///   - transport: The transport over which sightings are received.
    ///   - bus: The bus that bluetoothd is on; tests use their own.
    ///   - readTraffic: Reads the kernel's counts of an adapter. They show that a controller does
    ///     not answer; without them, detection takes longer.
    ///   - openManagement: Opens the kernel's management socket; tests supply their own.
    /// - Throws: `overloaded` when the process has no descriptor or thread left.
    package init(
        adapter: String?,
        serviceUUID: UUID16 = UUID16(0xFEED),
        canPowerCycle: Bool = false,
        timings: RecoveryTimings = RecoveryTimings(),
        transport: TransportPolicy = .dbus,
        bus: BusAddress = .system,
        readTraffic: TrafficReader? = nil,
        openManagement: @escaping @Sendable () throws(ManagementFailure) -> ManagementSocket =
            ManagementSocket.openIfPermitted,
        logger: Logger
    ) throws(DBusError) {
        thread = try BusThread(name: "radio")
        name = adapter ?? "bluez"
        self.serviceUUID = serviceUUID
        self.logger = logger
        address = bus
        self.timings = timings
        planner = BlueZPlanner(
            adapterName: adapter,
            canPowerCycle: canPowerCycle,
            timings: timings
        )
        choice = TransportChoice(policy: transport)
        self.openManagement = openManagement
        self.readTraffic = readTraffic
    }

    deinit {
        thread.stop(isJoined: false)
    }

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        thread.asUnownedSerialExecutor()
    }

    package nonisolated var executor: (any TaskExecutor)? { thread }

    package nonisolated func pause(for duration: Duration, tolerance: Duration) async {
        await thread.sleep(until: .now + duration, tolerance: tolerance)
    }

    package func setListening(_ isWanted: Bool) async {
        planner.wantScan(isWanted)
        if isWanted { wanted.continuation.yield() } else { closeManagement?() }
        changed()
    }

    package func startAdvertising(_ eid: EID) async throws(RadioFailure) {
        planner.requestAdvertising(eid)
        changed()
        // A till must not wait for ever for an adapter that cannot advertise.
        let limit = after(timings.advertisingLimit) { $0.planner.giveUp(eid) }
        defer { limit.cancel() }
        while true {
            if let outcome = planner.outcome(of: eid) { return try outcome.get() }
            await change(of: eid)
        }
    }

    package func stopAdvertising(_ eid: EID) async {
        planner.cancelAdvertising(eid)
        changed()
        let end = MonotonicTime.now + timings.advertisingLimit
        let limit = after(timings.advertisingLimit) { _ in }
        defer { limit.cancel() }
        while planner.isOnAir(eid), MonotonicTime.now < end { await change(of: eid) }
    }

    /// Runs a closure after a delay, then calls `changed()`.
    private func after(
        _ delay: Duration,
        _ body: @escaping @Sendable (isolated BlueZRadio) -> Void
    ) -> Task<Void, any Error> {
        // SAFETY: owned by the caller, who cancels it.
        Task {
            // A timeout. The caller cancels it when the operation has finished.
            try await Task.sleep(for: delay)
            body(self)
            changed()
        }
    }

    package func run(onEvent: @escaping RadioListener) async throws {
        self.onEvent = onEvent
        lastState = nil
        changed()
        await withTaskExecutorPreference(thread) {
            await cancelWhenGracefulShutdown { await self.listenAndServe() }
        }
        planner.linkChanged(.noBus("shut down"))
        changed()
    }

    private func listenAndServe() async {
        await withDiscardingTaskGroup { group in
            await addManagement(to: &group)
            await serve()
            group.cancelAll()
        }
    }

    private func serve() async {
        var retry = Retry(timings: timings)
        while !Task.isCancelled {
            do {
                var limits = Limits()
                limits.batchesSignals = true
                let connection = try await Connection.open(
                    address,
                    on: thread,
                    limits: limits,
                    logger: logger
                )
                logger.debug("connected to the bus")
                if connections > 0 { planner.reconnected() }
                connections += 1
                retry = Retry(timings: timings)
                await serve(connection)
                await connection.close()
                planner.linkChanged(.connecting)
            } catch {
                planner.linkChanged(.noBus(error.underlying))
            }
            changed()
            let now = MonotonicTime.now
            retry.failed(now: now)
            // No event signals that the bus is back: events would come over the bus.
            await pause(for: (retry.due ?? now) - now)
        }
    }

    /// Closes the connection to the bus if devices are not received over it; another is opened.
    /// bluetoothd then drops our scan and advertisements, which are restored on the new connection.
    func receiveDevicesAgain() async {
        await connectionWithoutDevices?.close()
    }

    /// Follows bluetoothd and carries out actions until the connection ends.
    private func serve(_ connection: Connection) async {
        paths = [:]
        stalePaths = []
        let receivesDevices = choice.transport == .dbus
        connectionWithoutDevices = receivesDevices ? nil : connection
        defer { connectionWithoutDevices = nil }
        let session = BlueZSession(
            connection: connection,
            serviceUUID: serviceUUID,
            receivesDevices: receivesDevices,
            callTimeout: timings.callTimeout,
            pause: timings.firstPause,
            // The connection is on the radio's thread.
            onEvent: { [weak self] event in self?.assumeIsolated { $0.apply(event) } }
        )
        let end = await connection.closed()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.runActions(on: connection) }
            group.addTask { await self.watchController() }
            group.addTask { await self.follow(session, on: connection) }
            for await _ in end {}
            group.cancelAll()
        }
    }

    private func follow(_ session: BlueZSession, on connection: Connection) async {
        do {
            try await session.follow()
        } catch {
            logger.debug("bluetoothd is followed no more", metadata: ["error": "\(error)"])
        }
        await connection.close()
    }

    private func apply(_ event: BlueZSession.Event) {
        let now = MonotonicTime.now
        switch event {
        case .daemon(let owner):
            daemon = owner
            stalePaths += paths.values.map(\.path)
            paths = [:]
            if let owner { recordDaemon(owner, now: now) }
            planner.linkChanged(owner == nil ? .noBlueZ : .asking(owner))
        case .notAnswering: planner.notAnswering()
        case .adapters(let adapters): planner.adaptersChanged(adapters, now: now)
        case .heard(let report): return receive(report, now: now)
        case .otherAdvertisement(let adapter):
            if adapter == planner.adapter?.path {
                wakeIfNeeded(by: planner.receivedOther(now: now), now: now)
            }
            return
        }
        changed()
    }

    private func recordDaemon(_ owner: String, now: MonotonicTime) {
        let isNew = lastDaemon.map { last in
            last.owner != owner || last.connection != connections && !planner.isReconnecting
        }
        staleScanLimit = isNew == true ? now + timings.busyLimit : nil
        lastDaemon = (owner, connections)
    }

    // MARK: Advertisements

    private func receive(_ report: DeviceReport, now: MonotonicTime) {
        // Other programs' filters admit devices that ours excludes, also on other adapters.
        guard planner.scan.isWanted, let adapter = planner.adapter, report.adapter == adapter.path
        else { return }
        guard choice.transport == .dbus else {
            if report.rssi != nil, choice.heardOverDBus(now: now) { listener?.fail(.silent) }
            return wakeIfNeeded(by: planner.receivedOther(now: now), now: now)
        }
        publish(report.recognition, isNew: report.isNew, rssi: report.rssi, adapter, now: now)
    }

    /// Publishes an advertisement received on our adapter, over either transport.
    func publish(
        _ recognition: HeardAdvertisement.Recognition,
        isNew: Bool,
        rssi: RSSI?,
        _ adapter: AdapterState,
        now: MonotonicTime
    ) {
        switch recognition {
        case .ours(let eid, let carrier):
            let sighting = Sighting(
                time: now,
                eid: eid,
                carrier: carrier,
                rssi: rssi,
                adapter: adapter.name
            )
            onEvent(.heard(sighting))
            wakeIfNeeded(by: planner.heard(sighting), now: now)
        case .ignored(let reason):
            // Sent once for each new content of a device, not for every repetition.
            if isNew { onEvent(.ignored(reason)) }
            wakeIfNeeded(by: planner.receivedOther(now: now), now: now)
        }
    }

    /// Handles the effect of a received advertisement. It is called often. Usually the
    /// advertisement only postpones the deadline of `runActions(on:)`; then nothing is woken.
    private func wakeIfNeeded(by hearing: BlueZPlanner.ReceptionEffect, now: MonotonicTime) {
        switch hearing {
        case .nothing: break
        case .scanProved: changed()
        case .earlierDeadline:
            if let due = planner.hearingDeadline(now: now), wakeup.isLater(than: due) { wake() }
        }
    }

    // MARK: Actions

    /// Carries out the planner's actions, one by one, until a reconnection or a cancellation.
    private func runActions(on connection: Connection) async {
        while !Task.isCancelled {
            // Both calls get the same time: a deadline between two different times would be missed.
            let now = MonotonicTime.now
            if planner.isControllerInQuestion(now: now) { pollController() }
            guard let action = planner.next(now: now) else {
                // The state may change without an action: the planner may have given up a recovery.
                sendState()
                await sleep(until: planner.nextDeadline(now: now))
                continue
            }
            report(planner.popStep())
            guard let adapter = planner.adapter, let daemon else { continue }
            if action == .reconnect { return await connection.close() }
            let epoch = planner.epoch
            let peer = BlueZPeer(on: connection, owner: daemon, callTimeout: timings.callTimeout)
            pollController()
            let result = await perform(action, on: adapter, peer)
            if action.isAdvertising { pollController() }
            if case .failure(let failure) = result {
                logger.info(
                    "a request to bluetoothd failed",
                    metadata: [
                        "action": "\(action)", "code": "\(failure.code.rawValue)",
                        "underlying": "\(failure.underlying ?? "")",
                    ]
                )
            }
            planner.finished(action, result, epoch: epoch, now: .now)
            changed()
        }
    }

    private func report(_ step: RecoveryStep?) {
        guard let step else { return }
        logger.info(
            "something is done to get the radio back",
            metadata: [
                "rung": "\(step.rung.rawValue)", "reason": "\(step.reason.rawValue)",
                "adapter": "\(planner.adapter?.name ?? "none")",
            ]
        )
        changed()
    }

    /// Handles bluetoothd's message that it has released an advertisement.
    func released(_ eid: EID, path: ObjectPath, sender: String?) {
        guard sender == daemon, paths[eid]?.path == path else { return }
        planner.released(eid)
        changed()
    }

    func makeNumber() -> UInt64 {
        nextNumber += 1
        return nextNumber
    }

    /// Sends the state if it has changed.
    private func sendState() {
        let state = choice.add(to: planner.state)
        guard state != lastState else { return }
        report(state, after: lastState)
        lastState = state
        onEvent(.stateChanged(state))
    }

    /// Handles a change of the planner: sends a changed state, and wakes all waiting tasks.
    func changed() {
        sendState()
        let waiting = waiting.values.joined()
        self.waiting = [:]
        for continuation in waiting { continuation.resume() }
        wake()
    }

    private func change(of eid: EID) async {
        await withCheckedContinuation { waiting[eid, default: []].append($0) }
    }
}
