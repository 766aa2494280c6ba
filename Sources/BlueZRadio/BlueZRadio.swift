package import BlueZ
package import DBus
package import GotchuCore
package import Logging
package import Radio
import ServiceLifecycle

/// The radio of a machine with Bluetooth: bluetoothd over the system bus.
///
/// Keeps what is wanted so through anything that can happen to the bus, bluetoothd and the adapter;
/// what that takes is decided by `BlueZPlanner`, and done here one action after the other.
package actor BlueZRadio: Radio {
    package nonisolated let name: String
    /// The thread on which everything of the radio happens: it reads the bus and the management
    /// socket, and what comes of an advertisement is decided without waking another one.
    nonisolated let thread: BusThread

    let serviceUUID: UUID16
    let logger: Logger
    private let address: BusAddress
    var filter = AdvertisementFilter()
    let openManagement: @Sendable () throws(ManagementFailure) -> ManagementSocket
    /// The kernel's counts of an adapter; `nil` once it does not tell.
    var readTraffic: TrafficReader?
    var choice: TransportChoice
    /// The reader of the management socket, while there is one.
    var listener: ManagementListener?
    /// Closes the management socket, while it is listened to.
    var closeManagement: (@Sendable () -> Void)?
    /// Yields when listening begins to be wanted.
    let wanted = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    /// The present connection to the bus, if its session does not receive devices.
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
    /// The objects that stand for EIDs on the present connection.
    var paths: [EID: RegisteredPath] = [:]
    /// Objects that an earlier bluetoothd knew, to be taken off the bus.
    var stalePaths: [ObjectPath] = []
    /// The time until which a scan that is refused must be an earlier bluetoothd's; `nil` if there
    /// was none.
    var staleScanLimit: MonotonicTime?
    /// The bluetoothd before, and on which connection.
    private var lastDaemon: (owner: String, connection: Int)?
    let timings: RecoveryTimings
    private var connections = 0
    /// Alternates, so that a filter differs from the one before it.
    var isFloorRaised = false

    /// - Parameters:
    ///   - adapter: `hci0`, or `nil` for the first that is powered.
    ///   - canPowerCycle: True if the adapter may be switched off and on when nothing else brings
    ///     a scan back; every program on the machine loses its connections by that.
    ///   - transport: The way that sightings come in.
    ///   - bus: The bus that bluetoothd is on; tests have their own.
    ///   - readTraffic: Reads the kernel's counts of an adapter, by which a controller is noticed
    ///     that does not answer; without it that takes longer.
    ///   - openManagement: Opens a management socket instead of the kernel; tests have theirs.
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
        planner.want(eid)
        changed()
        // An adapter that cannot advertise must not hold a till.
        let limit = after(timings.advertisingLimit) { $0.planner.giveUp(eid) }
        defer { limit.cancel() }
        while true {
            if let outcome = planner.outcome(of: eid) { return try outcome.get() }
            await change(of: eid)
        }
    }

    package func stopAdvertising(_ eid: EID) async {
        planner.unwant(eid)
        changed()
        let end = MonotonicTime.now + timings.advertisingLimit
        let limit = after(timings.advertisingLimit) { _ in }
        defer { limit.cancel() }
        while planner.isOnAir(eid), MonotonicTime.now < end { await change(of: eid) }
    }

    /// Does something later, and then looks again at everything that waits.
    private func after(
        _ delay: Duration,
        _ body: @escaping @Sendable (isolated BlueZRadio) -> Void
    ) -> Task<Void, any Error> {
        // SAFETY: owned by the caller, who cancels it.
        Task {
            // A limit on what others do, who cancel this when they have done it.
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
                limits.gathersSignals = true
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
            // Nothing tells that the bus is back: it is what would.
            await pause(for: (retry.due ?? now) - now)
        }
    }

    /// Opens another connection to the bus if devices are not received over this one. With it
    /// bluetoothd lets go of all that was ours, which the next one brings back.
    func receiveDevicesAgain() async {
        await connectionWithoutDevices?.close()
    }

    /// Follows and acts until the connection ends.
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
        case .noise(let adapter):
            if adapter == planner.adapter?.path {
                wakeIfNeeded(by: planner.noticed(now: now), now: now)
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
        // Filters of other programs let through what ours would not, on adapters that are not ours.
        guard planner.scan.isWanted, let adapter = planner.adapter, report.adapter == adapter.path
        else { return }
        guard choice.transport == .dbus else {
            if report.rssi != nil, choice.heardOverDBus(now: now) { listener?.fail(.silent) }
            return wakeIfNeeded(by: planner.noticed(now: now), now: now)
        }
        receive(report.recognition, isNews: report.isNews, rssi: report.rssi, adapter, now: now)
    }

    /// Receives an advertisement on our adapter, over either transport.
    func receive(
        _ recognition: HeardAdvertisement.Recognition,
        isNews: Bool,
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
        case .stranger(let reason):
            // Once for each thing that a device says, and not for each time that it says it.
            if isNews { onEvent(.ignored(reason)) }
            wakeIfNeeded(by: planner.noticed(now: now), now: now)
        }
    }

    /// Does what hearing something brings about. It comes often, nearly always only puts off what
    /// `runActions(on:)` waits for, and then wakes nobody.
    private func wakeIfNeeded(by hearing: BlueZPlanner.Hearing, now: MonotonicTime) {
        switch hearing {
        case .nothing: break
        case .proof: changed()
        case .hurry:
            if let due = planner.hearingDeadline(now: now), wakeup.isLater(than: due) { wake() }
        }
    }

    // MARK: Actions

    /// Carries out the planner's actions, one after the other, until the connection is to end.
    private func runActions(on connection: Connection) async {
        while !Task.isCancelled {
            // One moment for both: what falls due between them would be missed.
            let now = MonotonicTime.now
            if planner.isControllerInQuestion(now: now) { lookAtController() }
            guard let action = planner.next(now: now) else {
                // What was given up is news, too.
                sendState()
                await sleep(until: planner.nextDeadline(now: now))
                continue
            }
            report(planner.popStep())
            guard let adapter = planner.adapter, let daemon else { continue }
            if action == .reconnect { return await connection.close() }
            let epoch = planner.epoch
            let peer = BlueZPeer(on: connection, owner: daemon, callTimeout: timings.callTimeout)
            lookAtController()
            let result = await perform(action, on: adapter, peer)
            if action.isAdvertising { lookAtController() }
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

    /// bluetoothd says that it has dropped an advertisement.
    func released(_ eid: EID, path: ObjectPath, sender: String?) {
        guard sender == daemon, paths[eid]?.path == path else { return }
        planner.released(eid)
        changed()
    }

    func makeNumber() -> UInt64 {
        nextNumber += 1
        return nextNumber
    }

    /// Sends the state if it is another.
    private func sendState() {
        let state = choice.add(to: planner.state)
        guard state != lastState else { return }
        report(state, after: lastState)
        lastState = state
        onEvent(.stateChanged(state))
    }

    /// Sends the state if it is another, and wakes all who wait: the planner may have changed.
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
