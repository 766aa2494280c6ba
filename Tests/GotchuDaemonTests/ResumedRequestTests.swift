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
        .timeLimit(.minutes(2))
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
        let service = try service(resuming: request, radio, log, folder)
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

    /// One that its journal says is open, of a server that cannot be reached.
    private func record() throws -> RequestRecord {
        RequestRecord(
            sid: try #require(SessionID(rawValue: "s-1")),
            eid: EID(literal: "a1b2c3d4e5"),
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
        resuming request: RequestRecord,
        _ radio: any Radio,
        _ log: RecordedLog,
        _ folder: TemporaryFolder
    ) throws -> RequestService {
        let line = String(decoding: JournalLine.encode(.request(request)), as: UTF8.self)
        _ = try folder.write(line, to: "journal")
        return RequestService(
            client: PaymentClient(
                server: try #require(ServerURL(request.server)),
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
