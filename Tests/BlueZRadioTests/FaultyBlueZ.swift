import BusTestSupport
import GotchuCore
import Synchronization

@testable import DBus

/// A simulated bluetoothd on a private bus, with the known faults of a real one.
///
/// Like the real bluetoothd, it keeps the discovery and the advertisements of each client until
/// the client leaves the bus, and handles calls in order. `counts` counts the commands of a living
/// scan. `actualState` has the advertisements and the scan as they really are.
final class FaultyBlueZ: Sendable {
    struct State {
        var isPowered = true
        var hasAdapter = true
        var canAdvertise = true
        /// The clients that have started discovery.
        var sessions: Set<String> = []
        var filters: [String: [String: Value]] = [:]
        /// The value of `Discovering`.
        var isDiscovering = false
        /// The weakest action that revives the dead scan, or `nil` if the scan is not dead.
        var revivedBy: Revival?
        var advertisements: [ObjectPath: Advertisement] = [:]
        /// The errors that answer the next calls, by method.
        var refusals: [String: [String]] = [:]
        /// The delay of each answer.
        var delay = Duration.zero
        /// Actions that would have crashed a real bluetoothd.
        var crashes: [String] = []
        var calls: [String] = []
    }

    struct Advertisement {
        let owner: String
        /// The number of calls that had arrived when bluetoothd began to read the advertisement.
        let callsBeforeRead: Int
        /// The service data; `nil` while bluetoothd reads it from the owner.
        var data: [UInt8]?
        /// A Boolean that is true if the kernel stopped the advertisement without bluetoothd's
        /// knowledge.
        var isLost = false
    }

    /// The actions that can revive a dead scan, the weakest first.
    enum Revival: Int, CaseIterable, Comparable {
        case filter
        case restart
        case disconnect

        static func < (left: Revival, right: Revival) -> Bool { left.rawValue < right.rawValue }
    }

    /// The advertisements that are really on the air, and the real state of the scan.
    struct ActualState: Equatable {
        var onAir: [[UInt8]]
        var isScanning: Bool
    }

    static let adapter = ScriptedBlueZ.adapter
    static let serviceUUID = ScriptedBlueZ.serviceUUID

    let state = Mutex(State())
    let connection: Connection
    let callQueue = CallQueue()
    let version: BlueZRelease
    let bus: PrivateBus
    let counts: KernelCounts
    private let cycle = Mutex<Task<Void, Never>?>(nil)

    /// - Parameters:
    ///   - counts: The kernel's counts, which outlive this bluetoothd.
    ///   - cycleInterval: The time after which a living scan ends and starts again.
    init(
        on bus: PrivateBus,
        version: BlueZRelease = .bookworm,
        counts: KernelCounts = KernelCounts(),
        cycleInterval: Duration = .milliseconds(60),
        prepare: (inout State) -> Void = { _ in }
    ) async throws {
        self.version = version
        self.bus = bus
        self.counts = counts
        connection = try await bus.connect()
        state.withLock { prepare(&$0) }
        try await connection.export(rootObject(), at: .root)
        try await connection.export(adapterObject(), at: Self.adapter)
        let departures = try await connection.signals(
            MatchRule(sender: "org.freedesktop.DBus", member: "NameOwnerChanged")
        )
        try await connection.requestName("org.bluez")
        // SAFETY: owned by `cycle`, cancelled by `stop()`.
        let task = Task { [weak self] in
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await self?.follow(departures) }
                group.addTask { await self?.scan(every: cycleInterval) }
            }
        }
        cycle.withLock { $0 = task }
    }

    /// Ends abruptly, like a killed bluetoothd.
    func stop() async {
        cycle.withLock { $0?.cancel() }
        callQueue.admitAll()
        await connection.close()
    }

    var actualState: ActualState {
        state.withLock { state in
            guard state.hasAdapter, state.isPowered else {
                return ActualState(onAir: [], isScanning: false)
            }
            let data = state.advertisements.values.filter { !$0.isLost }.compactMap(\.data)
            return ActualState(
                onAir: data.sorted { $0.lexicographicallyPrecedes($1) },
                isScanning: !state.sessions.isEmpty && state.isDiscovering && state.revivedBy == nil
            )
        }
    }

    // MARK: The scan cycle, and clients that leave

    private func scan(every interval: Duration) async {
        while !Task.isCancelled {
            // SAFETY: the length of a simulated scan cycle; no check depends on it.
            try? await Task.sleep(for: interval)
            let isAlive = state.withLock { state in
                state.isPowered && state.hasAdapter && !state.sessions.isEmpty
                    && state.isDiscovering && state.revivedBy == nil && !callQueue.isHung
            }
            if isAlive { counts.commanded(Self.restartCommands) }
        }
    }

    /// The number of commands of a restart: end the scan, set the address, set the parameters,
    /// start.
    private static let restartCommands: UInt32 = 4

    private func follow(_ departures: AsyncStream<Signal>) async {
        for await signal in departures {
            guard signal.arguments.count == 3, let name = signal.arguments[0].asString,
                name.hasPrefix(":"), signal.arguments[2].asString == ""
            else { continue }
            await callQueue.waitForTurn()
            let wasLast = state.withLock { state in
                state.advertisements = state.advertisements.filter { $0.value.owner != name }
                state.filters[name] = nil
                guard state.sessions.remove(name) != nil else { return false }
                if state.sessions.isEmpty { state.revive(by: .disconnect) }
                return state.sessions.isEmpty
            }
            callQueue.endTurn()
            if wasLast { try? await says(isDiscovering: false) }
        }
    }

    // MARK: Methods

    func setFilter(_ call: Invocation) async throws {
        guard let sender = call.sender else { return }
        let filter = call.arguments[0].asProperties ?? [:]
        let isRestarted = state.withLock { state in
            if filter["UUIDs"] != nil, version == .uuidCrash {
                state.crashes.append("a UUID filter")
            }
            if filter["DuplicateData"] != nil || filter["Discoverable"] != nil,
                version < .flagsFixed
            {
                state.crashes.append("a flag in a filter")
            }
            let isOther = state.filters.updateValue(filter, forKey: sender) != filter
            guard isOther, state.sessions.contains(sender) else { return false }
            state.revive(by: .filter)
            return state.isDiscovering && state.revivedBy == nil
        }
        if isRestarted { counts.commanded(Self.restartCommands) }
    }

    func startDiscovery(_ call: Invocation) async throws {
        guard let sender = call.sender else { return }
        try state.withLock { state in
            guard state.isPowered else { throw MethodFailure(bluez: "NotReady") }
            guard state.sessions.insert(sender).inserted else {
                throw MethodFailure(bluez: "InProgress")
            }
            state.isDiscovering = true
        }
        try await says(isDiscovering: true)
    }

    func stopDiscovery(_ call: Invocation) async throws {
        guard let sender = call.sender else { return }
        let isStuck = try state.withLock { state in
            guard state.sessions.remove(sender) != nil else { throw MethodFailure(bluez: "Failed") }
            state.revive(by: .restart)
            if state.revivedBy == nil { state.isDiscovering = false }
            return state.revivedBy != nil
        }
        // The client's session has ended, but `Discovering` stays true (bluez/bluez#807).
        if isStuck { throw MethodFailure(bluez: "InProgress") }
        try await says(isDiscovering: false)
    }

    func register(_ call: Invocation) async throws {
        guard let path = call.arguments[0].asObjectPath, let sender = call.sender else { return }
        try state.withLock { state in
            guard state.advertisements[path] == nil else {
                throw MethodFailure(bluez: "AlreadyExists")
            }
            guard state.advertisements.count < 5 else { throw MethodFailure(bluez: "NotPermitted") }
            state.advertisements[path] = Advertisement(
                owner: sender,
                callsBeforeRead: callQueue.arrivedCount
            )
        }
        // bluetoothd answers other calls while it reads the advertisement from its owner.
        callQueue.endTurn()
        let data = try? await read(path, of: sender)
        await callQueue.waitForTurn()
        try state.withLock { state in
            guard let data, state.advertisements[path] != nil else {
                state.advertisements[path] = nil
                throw MethodFailure(bluez: "Failed")
            }
            state.advertisements[path]?.data = data
        }
    }

    private func read(_ path: ObjectPath, of sender: String) async throws -> [UInt8]? {
        let reply = try await connection.call(
            MethodCall(
                to: sender,
                path: path,
                interface: "org.freedesktop.DBus.Properties",
                member: "GetAll",
                arguments: [.string("org.bluez.LEAdvertisement1")]
            ),
            timeout: .seconds(10)
        )
        return reply.first?.asProperties?["ServiceData"]?.asProperties?.values.first?.asBytes
    }

    func unregister(_ call: Invocation, _ callNumber: Int) async throws {
        guard let path = call.arguments[0].asObjectPath else { return }
        try state.withLock { state in
            guard let known = state.advertisements.removeValue(forKey: path) else {
                throw MethodFailure(bluez: "DoesNotExist")
            }
            // Only a call that was queued before the read began surely precedes the owner's answer.
            if known.data == nil, callNumber < known.callsBeforeRead, version < .readingFixed {
                state.crashes.append("an advertisement unregistered while it is read")
            }
        }
    }
}

extension FaultyBlueZ.State {
    mutating func revive(by action: FaultyBlueZ.Revival) {
        if let revivedBy, revivedBy <= action { self.revivedBy = nil }
    }
}

extension MethodFailure {
    init(bluez name: String) {
        self.init(name: "org.bluez.Error.\(name)", text: "scripted")
    }
}

/// Releases of BlueZ with different faults.
enum BlueZRelease: Int, CaseIterable, Comparable, Sendable {
    case bookworm = 66
    case beforeFlagsFixed = 70
    case flagsFixed = 71
    case beforeReadingFixed = 72
    case readingFixed = 73
    case intervals = 77
    case uuidCrash = 87
    case next = 88

    var modalias: String { "usb:v1D6Bp0246d05" + String(rawValue, radix: 16) }

    static func < (left: BlueZRelease, right: BlueZRelease) -> Bool {
        left.rawValue < right.rawValue
    }
}
