import AsyncHTTPClient
import Foundation
import GotchuAPI
import GotchuCore
import LocalAPI
import Logging
import PaymentClient
import Radio
import TestSupport
import Testing

@testable import GotchuDaemon

@Suite("Requests that a restarted kiosk resumes")
struct ResumedRequestTests {
    @Test(
        "A resumed request is advertised when the radio has room; its wait is logged once as info"
    )
    func radioCannot() async throws {
        let folder = try TemporaryFolder()
        let radio = SimulatedRadio(kioskIn: folder)
        // The other EIDs use all slots of the radio.
        let others = (0..<SimulatedRadio.advertisingLimit).map { _ in EID.random() }
        for eid in others { try await radio.startAdvertising(eid) }
        let request = try record()
        let log = RecordedLog(level: .debug)
        let service = try service(resuming: [request], radio, log, folder)
        async let _ = service.run()

        func attempts() -> [String] {
            log.lines.filter { $0.contains("A request is not on the air") }
        }
        try await eventually("the advertisement is tried again and again") {
            attempts().count > 2 ? true : nil
        }
        #expect(await !service.views()[0].isOnAir)
        await radio.stopAdvertising(others[0])
        try await eventually("the request is on the air") {
            await service.views()[0].isOnAir ? true : nil
        }
        #expect(attempts().first?.hasPrefix("info: ") == true)
        #expect(attempts().dropFirst().allSatisfy { $0.hasPrefix("debug: ") })
    }

    @Test(
        "A waiting request is advertised at once when the adapter's capacity grows"
    )
    func placesGrow() async throws {
        let folder = try TemporaryFolder()
        let radio = SimulatedRadio(kioskIn: folder)
        let requests = try ["s-1", "s-2"].map { try record($0, .random()) }
        let service = try service(resuming: requests, radio, RecordedLog(level: .debug), folder)
        var state = RadioState()
        state.advertisingCapacity = 1
        await service.apply(radio: state)
        async let _ = service.run()
        func onAir() async -> Int { await service.views().count(where: \.isOnAir) }

        try await eventually("one request is on the air, and the other waits") {
            let isWaiting = await service.air.waitTask != nil
            return await onAir() == 1 && isWaiting ? true : nil
        }
        let start = ContinuousClock.now
        state.advertisingCapacity = 5
        await service.apply(radio: state)
        try await eventually("both requests are on the air") { await onAir() == 2 ? true : nil }
        #expect(start.duration(to: .now) < AirSchedule.turn / 2)
    }

    @Test("A reply with an impossible tip does not change a request, and is logged")
    func impossibleTip() async throws {
        let folder = try TemporaryFolder()
        let radio = SimulatedRadio(kioskIn: folder)
        let log = RecordedLog(level: .debug)
        var request = try record()
        request.tipCents = 0
        let service = try service(resuming: [request], radio, log, folder)
        func applyTip(_ tip: Int64) async throws -> RequestView {
            await service.apply(Self.paid(request, tip: tip), to: request.sid)
            return try await service.view(of: request.sid)
        }
        for tip in [-1, Money.allowedRequest.upperBound, .max] {
            #expect(try await applyTip(tip).state == .advertising)
        }
        #expect(log.lines.count { $0.contains("does not match the request") } == 3)
        #expect(log.lines.count { $0.hasSuffix(" wrong=tip") } == 3)
        let paid = try await applyTip(20)
        #expect(paid.state == .paid && paid.tipCents == 20)
        #expect("\(paid.amount)" == "$1.20 ($1.00 + $0.20 tip)")
    }

    @Test("If the server refuses a new EID, the journal records the end of the request's rotation")
    func refusedRotation() async throws {
        let request = try record()
        let bench = try Bench([.request(request)])
        bench.server.script(.session, .refused(409, ErrorCode.tooManyRotations.rawValue))
        guard case .refused = await bench.requests.rotate(request.sid) else {
            Issue.record("The rotation does not return the refusal")
            return
        }
        let written = bench.journal.records.dropFirst().map { record in
            if case .request(let request) = record { request.isRotating } else { nil as Bool? }
        }
        #expect(written == [true, nil])
    }

    @Test("A cancelled bill has the sum of the server's reply, not that of the last event")
    func cancelledBill() async throws {
        let before = Places(
            kind: Places.split,
            places: 5,
            paid: 1,
            held: 0,
            paidCents: WireInteger(100)
        )
        let bill = try record(cents: 500, places: before)
        let bench = try Bench([.request(bill)])
        bench.server.sessionStatus = "cancel"
        bench.server.sessionMembers =
            #""kind":"split","places":5,"places_paid":2,"places_held":0,"paid_cents":200,"#
        let view = try await bench.requests.cancel(bill.sid)
        #expect(view.state == .cancelled)
        #expect(view.places?.paid == 2 && view.places?.paidCents.value == 200)
    }

    @Test("A cancellation that the server's rate limit refuses says so, and can be repeated")
    func limitedCancellation() async throws {
        let request = try record(cents: 500)
        let bench = try Bench([.request(request)])
        let limit = ScriptedServer.Reply.refused(429, "RATE_LIMITED")
        bench.server.script(.session, limit, limit)
        await #expect {
            _ = try await bench.requests.cancel(request.sid)
        } throws: { ($0 as? Problem)?.errorCode == .rateLimited }
        bench.server.sessionStatus = "cancel"
        #expect(try await bench.requests.cancel(request.sid).state == .cancelled)
    }

    @Test("A reply with another session, amount or currency does not make a request paid")
    func otherSession() async throws {
        let folder = try TemporaryFolder()
        let radio = SimulatedRadio(kioskIn: folder)
        let log = RecordedLog(level: .debug)
        let (request, other) = (try record(), try record("s-2"))
        let service = try service(resuming: [request, other], radio, log, folder)
        let replies = [
            (Self.paid(other), "session"), (Self.paid(request, cents: 1), "amount"),
            (Self.paid(request, cents: 101), "amount"),
            (Self.paid(request, currency: .jpy), "currency"),
            (Self.paid(other, cents: 1, currency: .jpy, tip: -1), "session, amount, currency, tip"),
        ]
        for (reply, members) in replies {
            await service.apply(reply, to: request.sid)
            #expect(try await service.view(of: request.sid).state == .advertising, "\(reply)")
            #expect(log.lines.last?.hasSuffix(" wrong=\(members)") == true, "\(log.lines)")
        }
        #expect(
            log.lines.count { $0.contains("does not match the request") } == replies.count
        )
        #expect(try await service.view(of: other.sid).state == .advertising)
        // A reply without a currency is valid for a request in dollars.
        await service.apply(Self.paid(request, currency: nil), to: request.sid)
        #expect(try await service.view(of: request.sid).state == .paid)
    }

    @Test(
        "A payment time in the year 0 does not end a request, and the journal stays readable"
    )
    func yearZero() async throws {
        let folder = try TemporaryFolder()
        let radio = SimulatedRadio(kioskIn: folder)
        let server = try OddServer()
        defer { server.stop() }
        let log = RecordedLog(level: .debug)
        let request = try record(of: "http://127.0.0.1:\(server.port)")
        func push(paidAt: String) throws {
            let reply = try JSONEncoder().encode(Self.paid(request))
            let json = String(decoding: reply, as: UTF8.self)
            let time = try #require(json.firstMatch(of: /"paid_at":"[^"]+"/))
            let event = json.replacing(time.output, with: #""paid_at":"\#(paidAt)""#)
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
            server.answer(Array("\(head)data: \(event)\n\n".utf8))
        }
        try push(paidAt: "0000-01-01T00:00:00Z")
        let service = try service(resuming: [request], radio, log, folder)
        async let _ = service.run()
        try await eventually("the kiosk follows the session again and again") {
            log.lines.count { $0.contains("The session's events broke off") } > 1 ? true : nil
        }
        #expect(try await service.view(of: request.sid).state == .advertising)
        try push(paidAt: "2026-11-23T12:00:00Z")
        try await eventually("the valid payment time ends the request") {
            try await service.view(of: request.sid).state == .paid ? true : nil
        }
        let lines = try await eventually("the journal has the request's end") { () -> [Data]? in
            let journal = try Data(contentsOf: URL(filePath: "\(folder.path)/journal"))
            let lines = journal.split(separator: UInt8(ascii: "\n"))
            return lines.count > 1 && journal.last == UInt8(ascii: "\n") ? lines : nil
        }
        for line in lines {
            guard case .record = JournalLine.decode(line) else {
                Issue.record("A line is unreadable: \(String(decoding: line, as: UTF8.self))")
                continue
            }
        }
    }

    private static func paid(
        _ request: RequestRecord,
        cents: Int64 = 100,
        currency: Currency? = .usd,
        tip: Int64? = nil
    ) -> SessionReply {
        SessionReply(
            sid: request.sid,
            status: .paid,
            amountCents: WireInteger(cents),
            currency: currency,
            memo: nil,
            expiresAt: request.expiresAt,
            lockExpiresAt: nil,
            paidAt: .now,
            tipCents: tip.map { WireInteger($0) },
            version: 3
        )
    }

    /// Returns the record of an open request, by default at a server that cannot be reached.
    private func record(
        _ id: String = "s-1",
        _ eid: EID = EID(literal: "a1b2c3d4e5"),
        of server: String = "http://127.0.0.1:1",
        cents: Int64 = 100,
        places: Places? = nil
    ) throws -> RequestRecord {
        RequestRecord(
            sid: try #require(SessionID(rawValue: id)),
            eid: eid,
            server: server,
            amountCents: cents,
            places: places,
            currency: .usd,
            memo: nil,
            createdAt: .now,
            expiresAt: .now.advanced(by: .seconds(300)),
            state: .advertising
        )
    }

    /// Returns the service of a restarted kiosk whose journal has these requests.
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
