import AsyncHTTPClient
import GotchuAPI
import GotchuCore
import LocalAPI
import Logging
import PaymentClient
import Radio
import TestSupport
import Testing

@testable import GotchuDaemon

@Suite("A request that a restarted kiosk goes on with")
struct ResumedRequestTests {
    @Test(
        "comes on the air once the radio can, and that it cannot is said once",
        .timeLimit(.minutes(hangLimit))
    )
    func radioCannot() async throws {
        let folder = try TemporaryFolder()
        let radio = SimulatedRadio(
            folder: "\(folder.path)/air",
            name: "kiosk",
            position: AirPosition(x: 0, y: 0)
        )
        // It has no place left.
        let others = (0..<SimulatedRadio.advertisingLimit).map { _ in EID.random() }
        for eid in others { try await radio.startAdvertising(eid) }
        let request = try record()
        let log = RecordedLog(level: .debug)
        let service = try service(resuming: [request], radio, log, folder)
        async let _ = service.run()

        func attempts() -> [String] {
            log.lines.filter { $0.contains("A request is not on the air") }
        }
        try await eventually("it is tried again and again") { attempts().count > 2 ? true : nil }
        #expect(await !service.views()[0].isOnAir)
        await radio.stopAdvertising(others[0])
        try await eventually("it is on the air") { await service.views()[0].isOnAir ? true : nil }
        #expect(attempts().first?.hasPrefix("info: ") == true)
        #expect(attempts().dropFirst().allSatisfy { $0.hasPrefix("debug: ") })
    }

    @Test(
        "comes on the air as soon as the adapter has more places, whoever's turn it is",
        .timeLimit(.minutes(hangLimit))
    )
    func placesGrow() async throws {
        let folder = try TemporaryFolder()
        let radio = SimulatedRadio(
            folder: "\(folder.path)/air",
            name: "kiosk",
            position: AirPosition(x: 0, y: 0)
        )
        let requests = try ["s-1", "s-2"].map { try record($0, .random()) }
        let service = try service(resuming: requests, radio, RecordedLog(level: .debug), folder)
        var state = RadioState()
        state.advertisingCapacity = 1
        await service.take(radio: state)
        async let _ = service.run()
        func onAir() async -> Int { await service.views().count(where: \.isOnAir) }

        try await eventually("one has its turn, the other waits") {
            let isWaiting = await service.air.pause != nil
            return await onAir() == 1 && isWaiting ? true : nil
        }
        let start = ContinuousClock.now
        state.advertisingCapacity = 5
        await service.take(radio: state)
        try await eventually("both are on the air") { await onAir() == 2 ? true : nil }
        #expect(start.duration(to: .now) < AirSchedule.turn / 2)
    }

    @Test("is not believed to have a tip that no payment can have")
    func impossibleTip() async throws {
        let folder = try TemporaryFolder()
        let radio = SimulatedRadio(
            folder: "\(folder.path)/air",
            name: "kiosk",
            position: AirPosition(x: 0, y: 0)
        )
        let log = RecordedLog(level: .debug)
        let request = try record()
        let service = try service(resuming: [request], radio, log, folder)
        func tell(_ tip: Int64) async throws -> RequestView {
            let session = SessionReply(
                sid: request.sid,
                status: .paid,
                amountCents: WireInteger(100),
                currency: .usd,
                memo: nil,
                expiresAt: request.expiresAt,
                lockExpiresAt: nil,
                paidAt: .now,
                tipCents: WireInteger(tip),
                version: 3
            )
            await service.take(session, of: request.sid)
            return try await service.view(of: request.sid)
        }
        for tip in [-1, Money.allowedRequest.upperBound, .max] {
            #expect(try await tell(tip).state == .advertising)
        }
        #expect(log.lines.count { $0.contains("told of another session") } == 3)
        let paid = try await tell(20)
        #expect(paid.state == .paid && paid.tipCents == 20)
        #expect("\(paid.amount)" == "$1.20 ($1.00 + $0.20 tip)")
    }

    /// One that its journal says is open, of a server that cannot be reached.
    private func record(
        _ id: String = "s-1",
        _ eid: EID = EID(literal: "a1b2c3d4e5")
    ) throws -> RequestRecord {
        RequestRecord(
            sid: try #require(SessionID(rawValue: id)),
            eid: eid,
            server: "http://127.0.0.1:1",
            amountCents: 100,
            currency: .usd,
            memo: nil,
            createdAt: .now,
            expiresAt: .now.advanced(by: .seconds(300)),
            state: .advertising
        )
    }

    /// The service of a kiosk that has started again.
    private func service(
        resuming requests: [RequestRecord],
        _ radio: any Radio,
        _ log: RecordedLog,
        _ folder: TemporaryFolder
    ) throws -> RequestService {
        let lines = requests.flatMap { JournalLine.encode(.request($0)) }
        _ = try folder.write(String(decoding: lines, as: UTF8.self), to: "journal")
        return RequestService(
            client: PaymentClient(
                server: try #require(ServerURL(requests[0].server)),
                http: HTTPClient.shared
            ),
            tokens: TokenStore(configured: nil, credentials: nil, stateDirectory: folder.path),
            radio: radio,
            eidLifetime: nil,
            journal: try Journal(folder: folder.path),
            hub: EventHub(),
            logger: log.logger
        )
    }
}
