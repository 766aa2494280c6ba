import AsyncHTTPClient
import Foundation
import GotchuAPI
import GotchuCore
import Logging
import PaymentClient
import Radio
import Synchronization
import TestSupport
import Testing

@testable import GotchuDaemon
@testable import LocalAPI

@Suite("Listening on demand")
struct ListeningTests {
    /// A daemon's presence service on a simulated radio, with an advertising till 10 cm away.
    private final class Listener: Sendable {
        static let interval: Duration = .milliseconds(300)

        let hub = EventHub()
        let recorder = SightingRecorder()
        let presences: PresenceService
        let till: SimulatedRadio
        private let radio: SimulatedRadio
        private let folder: TemporaryFolder
        private let state = Mutex(RadioState())

        init(_ listen: ListenSetting) async throws {
            folder = try TemporaryFolder()
            let air = "\(folder.path)/air"
            radio = SimulatedRadio(folder: air, name: "us", position: AirPosition(x: 0, y: 0))
            till = SimulatedRadio(folder: air, name: "till", position: AirPosition(x: 0.1, y: 0))
            presences = PresenceService(
                radio: radio,
                listen: listen,
                demandInterval: Self.interval,
                policy: ProximityPolicy(),
                calibrations: CalibrationStore(stateDirectory: folder.path),
                resolver: SessionResolver(
                    client: PaymentClient(
                        server: try #require(ServerURL("http://127.0.0.1:1")),
                        http: HTTPClient.shared
                    )
                ),
                hub: hub,
                recorder: recorder
            ) { _ in }
        }

        /// Runs all services around `body`.
        func run(_ body: @escaping @Sendable () async throws -> Void) async throws {
            try await till.startAdvertising(.random())
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await self.radio.run { self.presences.apply($0) } }
                group.addTask { try await self.till.run { _ in } }
                group.addTask { try await self.presences.run() }
                try await body()
                group.cancelAll()
            }
        }

        var heard: Int { presences.counts.heard.values.reduce(0, +) }

        /// Waits until no sighting has arrived for two seconds. A till advertises about twenty
        /// times in that time.
        func silence() async throws {
            var last = (count: -1, since: ContinuousClock.now)
            try await eventually("nothing is heard any more") {
                if self.heard != last.count { last = (self.heard, .now) }
                return last.since.duration(to: .now) > .seconds(2) ? true : nil
            }
        }

        func hears() async throws {
            let before = heard
            try await eventually("something is heard") { self.heard > before ? true : nil }
        }
    }

    @Test(
        "With `auto`, the radio listens while a reader subscribes to sessions, not before or after"
    )
    func reader() async throws {
        let listener = try await Listener(.auto)
        try await listener.run {
            try await listener.silence()
            #expect(listener.heard == 0)
            let topics = EventTopic.readable(by: [.observer], wantsSessions: true)
            let reader = try #require(listener.hub.subscribe(topics: topics, userID: 0))
            listener.presences.requestListening()
            // After a single call, the radio would listen for a shorter time than this.
            let long = ContinuousClock.now + Listener.interval * 5
            while ContinuousClock.now < long { try await listener.hears() }
            #expect(!reader.pop().lines.isEmpty)
            reader.end()
            try await listener.silence()
            #expect(listener.presences.presenceCount == 0)
        }
    }

    /// A radio whose first pause lasts until its task is cancelled. Later pauses end at once.
    private final class HeldRadio: Radio {
        let name = "held"
        let pauses: AsyncStream<Duration>
        private let pausing: AsyncStream<Duration>.Continuation
        private let isFirst = Atomic(true)

        init() { (pauses, pausing) = AsyncStream.makeStream() }

        func pause(for duration: Duration, tolerance: Duration) async {
            pausing.yield(duration)
            guard isFirst.exchange(false, ordering: .relaxed) else { return }
            for await _ in AsyncStream<Void>.makeStream().stream {}
        }

        func run(onEvent: @escaping RadioListener) async throws {}
        func setListening(_ isWanted: Bool) async {}
        func startAdvertising(_ eid: EID) async throws(RadioFailure) {}
        func stopAdvertising(_ eid: EID) async {}
    }

    @Test(
        "A call waits at most two seconds for the radio, and then at most two for presences"
    )
    func late() async throws {
        let radio = HeldRadio()
        let folder = try TemporaryFolder()
        let presences = PresenceService(
            radio: radio,
            policy: ProximityPolicy(),
            calibrations: CalibrationStore(stateDirectory: folder.path),
            resolver: SessionResolver(
                client: PaymentClient(
                    server: try #require(ServerURL("http://127.0.0.1:1")),
                    http: HTTPClient.shared
                )
            ),
            hub: EventHub(),
            recorder: SightingRecorder()
        ) { _ in }
        var pauses = radio.pauses.makeAsyncIterator()
        async let call: Void = presences.listenForPresences()
        #expect(await pauses.next() == .seconds(2), "The wait for the radio")
        var state = RadioState()
        state.isScanning = true
        presences.apply(.stateChanged(state))
        let hearing = try #require(await pauses.next())
        #expect(hearing > .zero && hearing <= .seconds(2), "The wait for presences")
        await call
    }

    @Test("A reader that does not subscribe to sessions does not make the radio listen")
    func other() async throws {
        let listener = try await Listener(.auto)
        try await listener.run {
            let topics = EventTopic.readable(by: Set(AccessLevel.allCases), wantsSessions: false)
            let reader = try #require(listener.hub.subscribe(topics: topics, userID: 0))
            try await listener.silence()
            #expect(listener.heard == 0 && reader.pop().lines.isEmpty)
        }
    }

    @Test(
        "A call makes the radio listen for a while, and so does a second call"
    )
    func call() async throws {
        let listener = try await Listener(.auto)
        try await listener.run {
            for _ in 0..<2 {
                // On a busy machine, the till's advertisement may arrive after the first call.
                try await eventually("the call makes the till known") {
                    await listener.presences.listenForPresences()
                    return listener.presences.presences().map(\.verdict) == [.tap] ? true : nil
                }
                try await listener.silence()
            }
        }
    }

    @Test("The radio listens while a recording runs, and stops after it")
    func recording() async throws {
        let listener = try await Listener(.auto)
        try await listener.run {
            let header = RecordingHeader(
                version: "1",
                radio: "simulated",
                adapter: nil,
                transport: nil,
                bluezVersion: nil,
                startedAt: .now,
                policy: ProximityPolicy()
            )
            let lines = listener.recorder.start(header, for: Listener.interval * 5)
            listener.presences.requestListening()
            var count = 0
            for await _ in try #require(lines) { count += 1 }
            // The recording lasts 1.5 s, and the till advertises about ten times a second.
            #expect(count > 8)
            try await listener.silence()
        }
    }

    @Test("With `always`, the radio listens from the start; with `never`, not even after a call")
    func settings() async throws {
        let always = try await Listener(.always)
        try await always.run { try await always.hears() }
        let never = try await Listener(.never)
        try await never.run {
            let start = ContinuousClock.now
            await never.presences.listenForPresences()
            #expect(start.duration(to: .now) < .seconds(1))
            try await never.silence()
            #expect(never.heard == 0)
        }
    }
}
