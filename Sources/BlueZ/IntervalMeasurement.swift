package import DBus
package import GotchuCore

/// Measures how often one adapter advertises, by listening with another.
///
/// What is asked for is not what happens: before 5.77 most bluetoothds ignore the interval and say
/// nothing. The advertisement is one of ours but for its service, so that no payer takes it for a
/// till.
package struct IntervalMeasurement: Sendable {
    package enum Outcome: Equatable, Sendable {
        case interval(Duration)
        /// Not often enough to say.
        case notHeard
        case refused(BlueZError)
    }

    /// Assigned to nobody.
    package static let serviceUUID = UUID16(0xFFFF)
    /// Five advertisements at 1.28 s, and a scan that has to begin.
    package static let limit: Duration = .seconds(8)

    private let connection: Connection
    private let peer: BlueZPeer
    private let advertiser: ObjectPath
    private let listener: AdapterState
    private let eid = EID.random()

    /// - Parameter owner: bluetoothd's unique name.
    package init(
        of advertiser: ObjectPath,
        by listener: AdapterState,
        on connection: Connection,
        owner: String
    ) {
        self.connection = connection
        self.advertiser = advertiser
        self.listener = listener
        peer = BlueZPeer(on: connection, owner: owner)
    }

    private enum Sign {
        /// Signals are followed from here on.
        case ready
        case heard(MonotonicTime)
    }

    package func run(within limit: Duration = Self.limit) async -> Outcome {
        let (signs, sign) = AsyncStream<Sign>.makeStream(bufferingPolicy: .bufferingNewest(64))
        return await withTaskGroup(of: Outcome?.self) { group in
            defer { group.cancelAll() }
            group.addTask {
                await follow(sign)
                return nil
            }
            group.addTask {
                // No time-out that throws: what was heard until now is the answer. Who has it
                // earlier cancels this.
                try? await Task.sleep(for: limit)
                sign.finish()
                return nil
            }
            group.addTask { await measure(signs) }
            for await outcome in group {
                if let outcome { return outcome }
            }
            return .notHeard
        }
    }

    private func follow(_ sign: AsyncStream<Sign>.Continuation) async {
        let session = BlueZSession(connection: connection, serviceUUID: Self.serviceUUID) { event in
            switch event {
            case .adapters: sign.yield(.ready)
            case .heard(let report) where report.adapter == listener.path:
                guard case .ours(eid, _) = report.advertisement.recognise() else { return }
                sign.yield(.heard(.now))
            default: break
            }
        }
        // Where it is followed no more, the limit ends the measurement.
        try? await session.follow()
    }

    private func measure(_ signs: AsyncStream<Sign>) async -> Outcome {
        guard
            let advertisement = LEAdvertisement(
                eid,
                serviceUUID: Self.serviceUUID,
                number: 0
            )
        else { return .notHeard }
        let outcome = await listen(to: advertisement, signs)
        // The rest ends with the connection.
        try? await LEAdvertisingManager(advertiser, of: peer).unregister(advertisement.path)
        return outcome
    }

    private func listen(
        to advertisement: LEAdvertisement,
        _ signs: AsyncStream<Sign>
    ) async -> Outcome {
        let adapter = Adapter(listener.path, of: peer)
        var gaps = AdvertisingGaps()
        var restarts: Int16 = 0
        var isReady = false
        do throws(BlueZError) {
            for await sign in signs {
                switch sign {
                case .ready:
                    if isReady { continue }
                    isReady = true
                    if listener.canMonitor { try await monitor() }
                    try await adapter.setDiscoveryFilter(filter(restarts))
                    try await adapter.startDiscovery()
                    try await advertise(advertisement)
                case .heard(let time):
                    gaps.add(time)
                    if gaps.areEnough { return gaps.median.map(Outcome.interval) ?? .notHeard }
                    // A controller may tell of each address once for each scan.
                    guard !listener.canMonitor else { continue }
                    restarts += 1
                    try await adapter.setDiscoveryFilter(filter(restarts))
                }
            }
        } catch {
            return .refused(error)
        }
        return gaps.median.map(Outcome.interval) ?? .notHeard
    }

    /// One that differs from the last, which restarts the scan.
    private func filter(_ restarts: Int16) -> DiscoveryFilter {
        DiscoveryFilter(
            serviceUUID: Self.serviceUUID,
            floor: DiscoveryFilter.lowestFloor + restarts % 2,
            quirks: listener.quirks
        )
    }

    /// While there is a monitor the kernel has the controller tell of every advertisement.
    private func monitor() async throws(BlueZError) {
        guard let monitor = AdvertisementMonitor(serviceUUID: Self.serviceUUID, number: 0) else {
            return
        }
        for (path, object) in monitor.objects(notify: { _, _ in }) {
            try await export(object, at: path)
        }
        try await AdvertisementMonitorManager(listener.path, of: peer).register(monitor.root)
    }

    private func advertise(_ advertisement: LEAdvertisement) async throws(BlueZError) {
        try await export(advertisement.object { _ in }, at: advertisement.path)
        try await LEAdvertisingManager(advertiser, of: peer).register(advertisement.path)
    }

    private func export(_ object: ExportedObject, at path: ObjectPath) async throws(BlueZError) {
        do {
            try await connection.export(object, at: path)
        } catch {
            throw BlueZError(error)
        }
    }
}

/// The times between advertisements of one sender: pure.
package struct AdvertisingGaps: Sendable {
    /// Nothing advertises more often than every 20 ms (Core Specification, Vol 6 Part B 4.4.2.2):
    /// what comes closer together is one advertisement that was told twice.
    private static let echo: Duration = .milliseconds(15)
    private static let wanted = 8
    /// With fewer, one that was missed would be half of the answer.
    private static let least = 3

    private var last: MonotonicTime?
    private var gaps: [Duration] = []

    package init() {}

    package mutating func add(_ time: MonotonicTime) {
        if let last {
            guard time - last >= Self.echo else { return }
            gaps.append(time - last)
        }
        last = time
    }

    package var areEnough: Bool { gaps.count >= Self.wanted }

    /// The one in the middle, the lower of two; `nil` if there are too few.
    package var median: Duration? {
        gaps.count >= Self.least ? gaps.sorted()[(gaps.count - 1) / 2] : nil
    }
}
