package import BlueZ
package import DBus
package import GotchuCore
package import Logging
import ServiceLifecycle

/// The radio of a machine with Bluetooth: bluetoothd over the system bus.
///
/// What is wanted is kept so through anything that can happen to the bus, bluetoothd and the
/// adapter; what that takes is decided by `BlueZPlanner`, and done here one action after the other.
package actor BlueZRadio: Radio {
    package nonisolated let name: String
    package nonisolated let events: AsyncStream<RadioEvent>

    let serviceUUID: UUID16
    let logger: Logger
    private let address: BusAddress
    private let output: AsyncStream<RadioEvent>.Continuation
    var planner: BlueZPlanner
    var wakeup = Wakeup()
    private var waiting: [EID: [CheckedContinuation<Void, Never>]] = [:]
    /// bluetoothd's unique name.
    private var daemon: String?
    private var lastState: RadioState?
    private var nextNumber: UInt64 = 0
    /// The objects that stand for EIDs on the present connection.
    var paths: [EID: ObjectPath] = [:]
    /// Alternates, so that a filter differs from the one before it.
    var isFloorRaised = false

    /// - Parameters:
    ///   - adapter: `hci0`, or `nil` for the first that is powered.
    ///   - bus: where bluetoothd is; tests have their own.
    package init(
        adapter: String?,
        serviceUUID: UUID16 = UUID16(0xFEED),
        bus: BusAddress = .system,
        logger: Logger
    ) {
        name = adapter ?? "bluez"
        self.serviceUUID = serviceUUID
        self.logger = logger
        address = bus
        planner = BlueZPlanner(adapterName: adapter)
        (events, output) = AsyncStream.makeStream(
            bufferingPolicy: .bufferingNewest(Self.eventLimit)
        )
    }

    /// How long a new advertisement may take to come on the air. bluetoothd answers within
    /// milliseconds; one that does not, or an adapter that cannot advertise, must not hold a till.
    static let advertisingLimit: Duration = .seconds(8)

    package func startAdvertising(_ eid: EID) async throws(RadioFailure) {
        planner.want(eid)
        changed()
        // SAFETY: owned by this call, and cancelled when it returns.
        let limit = Task {
            try await Task.sleep(for: Self.advertisingLimit)
            self.planner.giveUp(eid)
            self.changed()
        }
        defer { limit.cancel() }
        while true {
            if let outcome = planner.outcome(of: eid) { return try outcome.get() }
            await change(of: eid)
        }
    }

    package func stopAdvertising(_ eid: EID) async {
        planner.unwant(eid)
        changed()
        while planner.isOnAir(eid) { await change(of: eid) }
    }

    package func run() async throws {
        await cancelWhenGracefulShutdown { await self.serve() }
        planner.linkChanged(.noBus("shut down"))
        changed()
        output.finish()
    }

    private func serve() async {
        var retry = Retry()
        while !Task.isCancelled {
            do {
                let connection = try await Connection.open(address, logger: logger)
                logger.debug("connected to the bus")
                retry = Retry()
                await serve(connection)
                await connection.close()
                planner.linkChanged(.connecting)
            } catch {
                planner.linkChanged(.noBus(error.underlying))
            }
            changed()
            let now = MonotonicTime.now
            retry.failed(now: now)
            try? await Task.sleep(for: (retry.due ?? now) - now)
        }
    }

    /// Follows and acts until the connection ends.
    private func serve(_ connection: Connection) async {
        paths = [:]
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.keep(connection) }
            var session = BlueZSession(connection: connection, serviceUUID: serviceUUID)
            do {
                try await session.follow { handle($0) }
            } catch {
                logger.debug("bluetoothd is followed no more", metadata: ["error": "\(error)"])
            }
            group.cancelAll()
        }
    }

    private func handle(_ event: BlueZSession.Event) {
        let now = MonotonicTime.now
        switch event {
        case .daemon(let owner):
            daemon = owner
            planner.linkChanged(owner == nil ? .noBlueZ : .asking(owner))
        case .adapters(let adapters): planner.adaptersChanged(adapters, now: now)
        case .heard(let report):
            guard hear(report, now: now) else { return }
        }
        changed()
    }

    /// - Returns: whether the planner wants to know.
    private func hear(_ report: DeviceReport, now: MonotonicTime) -> Bool {
        // Filters of other programs let through what ours would not, on adapters that are not ours.
        guard let adapter = planner.adapter, report.adapter == adapter.path else { return false }
        switch report.advertisement.recognise() {
        case .ours(let eid, let carrier):
            let sighting = Sighting(
                time: now,
                eid: eid,
                carrier: carrier,
                rssi: report.rssi,
                adapter: adapter.name
            )
            output.yield(.heard(sighting))
            planner.heard(sighting)
            return true
        case .stranger(let reason):
            // Once for each thing that a device says: a crowd must not push sightings out.
            if report.isNews { output.yield(.ignored(reason)) }
            return false
        }
    }

    /// Carries out what the planner asks for, one action at a time.
    private func keep(_ connection: Connection) async {
        while !Task.isCancelled {
            guard let action = planner.next(now: .now) else {
                await sleep(until: planner.nextDeadline(now: .now))
                continue
            }
            guard let adapter = planner.adapter else { continue }
            let epoch = planner.epoch
            let result = await perform(action, on: adapter, connection)
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

    /// bluetoothd says that it has dropped an advertisement.
    func wasReleased(_ eid: EID, path: ObjectPath, sender: String?) {
        guard sender == daemon, paths[eid] == path else { return }
        planner.released(eid)
        changed()
    }

    func makeNumber() -> UInt64 {
        nextNumber += 1
        return nextNumber
    }

    /// After anything that may have changed the planner: tells the world, wakes whoever waits.
    private func changed() {
        let state = planner.state
        if state != lastState {
            lastState = state
            output.yield(.stateChanged(state))
        }
        let waiting = waiting.values.joined()
        self.waiting = [:]
        for continuation in waiting { continuation.resume() }
        wake()
    }

    private func change(of eid: EID) async {
        await withCheckedContinuation { waiting[eid, default: []].append($0) }
    }
}
