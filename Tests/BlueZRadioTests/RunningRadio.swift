import BlueZRadio
import BusTestSupport
import GotchuCore
import Logging
import Radio

/// A `BlueZRadio` that runs during a test, and the events that it reports.
actor RunningRadio {
    nonisolated let radio: BlueZRadio
    private let output: AsyncStream<RadioEvent>.Continuation
    private var iterator: AsyncStream<RadioEvent>.Iterator

    init(
        on bus: PrivateBus,
        adapter: String? = nil,
        transport: TransportPolicy = .dbus,
        kernel: ScriptedKernel = ScriptedKernel(),
        counts: KernelCounts? = nil,
        timings: RecoveryTimings = RecoveryTimings(),
        logger: Logger = quietLogger
    ) throws {
        radio = try BlueZRadio(
            adapter: adapter,
            timings: timings,
            transport: transport,
            bus: bus.address,
            readTraffic: counts?.reader,
            openManagement: kernel.open,
            logger: logger
        )
        let (events, output) = AsyncStream<RadioEvent>.makeStream()
        self.output = output
        iterator = events.makeAsyncIterator()
    }

    /// Runs the radio around `body`.
    static func with(
        _ bus: PrivateBus,
        adapter: String? = nil,
        transport: TransportPolicy = .dbus,
        kernel: ScriptedKernel = ScriptedKernel(),
        counts: KernelCounts? = nil,
        timings: RecoveryTimings = RecoveryTimings(),
        isListening: Bool = true,
        logger: Logger = quietLogger,
        _ body: @escaping @Sendable (RunningRadio) async throws -> Void
    ) async throws {
        let running = try RunningRadio(
            on: bus,
            adapter: adapter,
            transport: transport,
            kernel: kernel,
            counts: counts,
            timings: timings,
            logger: logger
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            await running.radio.setListening(isListening)
            let output = running.output
            group.addTask { try await running.radio.run { output.yield($0) } }
            try await withDeadline(.seconds(30)) { try await body(running) }
            group.cancelAll()
        }
    }

    /// Drops events until `pick` returns a value for one, and returns this value.
    func next<T: Sendable>(_ pick: @Sendable (RadioEvent) -> T?) async throws -> T {
        var iterator = iterator
        while let event = await iterator.next(isolation: self) {
            if let picked = pick(event) { return picked }
        }
        throw DeadlinePassed()
    }

    func state(where isRight: @Sendable (RadioState) -> Bool) async throws -> RadioState {
        try await next { event in
            guard case .stateChanged(let state) = event, isRight(state) else { return nil }
            return state
        }
    }

    func sighting() async throws -> Sighting {
        try await next { event in
            guard case .heard(let sighting) = event else { return nil }
            return sighting
        }
    }
}
