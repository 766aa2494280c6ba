import GotchuAPI
import GotchuCore
import LocalAPI
import Logging
import PaymentClient
import Radio
import ServiceLifecycle

/// The kiosk's side: asks the server for a session, advertises it, and learns how it ended.
actor RequestService: Service {
    /// How many requests can be open at once.
    static let openLimit = 16
    /// How many requests are remembered; the oldest ended ones are forgotten.
    static let memoryLimit = 200
    /// How long after its expiry the server is waited for before a request is called unknown.
    static let expiryGrace: Duration = .seconds(2)

    let client: PaymentClient
    let radio: any Radio
    let logger: Logger
    private let journal: Journal
    private let hub: EventHub

    private var records: [SessionID: RequestRecord] = [:]
    private var onAir: Set<SessionID> = []
    private var toWatch: [SessionID] = []
    private var isStopping = false
    private let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation

    init(
        client: PaymentClient,
        radio: any Radio,
        journal: Journal,
        hub: EventHub,
        logger: Logger
    ) {
        self.client = client
        self.radio = radio
        self.journal = journal
        self.hub = hub
        self.logger = logger
        for record in journal.contentsAtStart.requests.values {
            records[record.sid] = record
            if !record.state.isFinal { toWatch.append(record.sid) }
        }
        (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        if !toWatch.isEmpty { wake.yield() }
    }

    func run() async throws {
        await withDiscardingTaskGroup { group in
            for await _ in wakes.cancelOnGracefulShutdown() {
                for id in takeToWatch() {
                    group.addTask { await RequestWatch(id: id, service: self).run() }
                }
            }
            isStopping = true
            group.cancelAll()
        }
        for id in onAir { await takeOffAir(id) }
    }

    /// Asks for money: the request is on the air when this returns.
    func create(_ new: NewRequest) async throws(Problem) -> RequestView {
        try Self.validate(new)
        guard !isStopping else { throw .stopping }
        guard records.values.count(where: { !$0.state.isFinal }) < Self.openLimit else {
            throw Problem(
                .rateLimited,
                detail: "There are already \(Self.openLimit) open requests.",
                fix: "gotchu-ctl history, then cancel what is not needed"
            )
        }
        let wish = CreateSessionRequest(
            amountCents: new.amountCents,
            currency: new.currency,
            memo: new.memo,
            ttlSeconds: new.ttlSeconds
        )
        let session = try await client.createSession(wish).getOrThrow()
        let record = RequestRecord(
            sid: session.sid,
            eid: session.eid,
            server: client.server.description,
            amountCents: new.amountCents,
            currency: new.currency ?? .usd,
            memo: new.memo,
            createdAt: .now,
            expiresAt: session.expiresAt,
            state: .advertising,
            paidAt: nil
        )
        do throws(JournalFailure) {
            try await journal.append(.request(record))
        } catch {
            await abandon(record, because: error.sentence)
            throw Problem(.journalUnwritable, detail: error.sentence, fix: error.fix)
        }
        do throws(RadioFailure) {
            try await radio.startAdvertising(record.eid)
        } catch {
            await abandon(record, because: error.sentence)
            throw Problem(.radioUnavailable, detail: error.sentence, fix: error.fix)
        }
        onAir.insert(record.sid)
        records[record.sid] = record
        forgetOldest()
        toWatch.append(record.sid)
        wake.yield()
        logger.notice(
            "Request is on the air",
            metadata: ["request": "\(record.sid)", "amount": "\(record.amount)"]
        )
        tell(record)
        return view(record)
    }

    func view(of id: SessionID) throws(Problem) -> RequestView {
        guard let record = records[id] else {
            throw Problem(.notFound, detail: "There is no request \(id).")
        }
        return view(record)
    }

    /// All that are remembered, newest first.
    func views() -> [RequestView] {
        records.values.sorted { $0.createdAt > $1.createdAt }.map(view)
    }

    /// Takes a request back. Does nothing more to one that has ended.
    func cancel(_ id: SessionID) async throws(Problem) -> RequestView {
        let before = try view(of: id)
        if before.state.isFinal { return before }
        let answer = await client.cancel(id)
        if case .success = answer {
            await note(id, state: .cancelled, paidAt: nil)
        } else if case .success(let session) = await client.session(id) {
            // It may have been paid at this very moment: the server's word decides.
            await take(session)
        }
        let after = try view(of: id)
        if !after.state.isFinal { try answer.getOrThrow() }
        return after
    }

    // What the watch of one request tells.

    func record(_ id: SessionID) -> RequestRecord? { records[id] }

    /// Takes the server's word on a session.
    func take(_ session: SessionReply) async {
        let state: RequestView.State =
            switch session.status {
            case .created, .advertising: .advertising
            case .locked: .locked
            case .paid: .paid
            case .timeout: .expired
            case .cancelled: .cancelled
            }
        await note(session.sid, state: state, paidAt: session.paidAt)
    }

    /// The session has ended by our clock and the server could not be asked.
    func noteUnknown(_ id: SessionID) async {
        guard let record = records[id], !record.state.isFinal else { return }
        await note(id, state: .unknown, paidAt: nil)
    }

    /// Puts a request that was resumed after a restart on the air again.
    func putOnAir(_ id: SessionID) async throws(RadioFailure) {
        guard let record = records[id], !record.state.isFinal, !onAir.contains(id) else { return }
        try await radio.startAdvertising(record.eid)
        onAir.insert(id)
        tell(record)
    }

    func takeOffAir(_ id: SessionID) async {
        guard let record = records[id], onAir.remove(id) != nil else { return }
        await radio.stopAdvertising(record.eid)
    }

    private func note(_ id: SessionID, state: RequestView.State, paidAt: Timestamp?) async {
        guard var record = records[id], !record.state.isFinal, record.state != state else { return }
        record.state = state
        record.paidAt = paidAt
        records[id] = record
        if state.isFinal || state == .unknown { await takeOffAir(id) }
        if state.isFinal {
            logger.notice(
                "Request has ended",
                metadata: ["request": "\(id)", "state": "\(state.rawValue)"]
            )
            // Only an end is worth a sync: an open request is asked about anew at each start.
            do throws(JournalFailure) {
                try await journal.append(.request(record))
            } catch {
                logger.warning(
                    "The end of a request was not journalled",
                    metadata: ["request": "\(id)", "reason": "\(error.sentence)"]
                )
            }
        }
        if let newest = records[id] { tell(newest) }
    }

    private func abandon(_ record: RequestRecord, because reason: String) async {
        logger.warning("A request was given up", metadata: ["reason": "\(reason)"])
        _ = await client.cancel(record.sid)
        var ended = record
        ended.state = .cancelled
        try? await journal.append(.request(ended))
    }

    private func takeToWatch() -> [SessionID] {
        defer { toWatch = [] }
        return toWatch
    }

    private func forgetOldest() {
        let ended = records.values.filter(\.state.isFinal).sorted { $0.createdAt < $1.createdAt }
        for record in ended.prefix(max(0, records.count - Self.memoryLimit)) {
            records[record.sid] = nil
        }
    }

    private func tell(_ record: RequestRecord) {
        hub.publish(.requestChanged(view(record)))
    }

    private func view(_ record: RequestRecord) -> RequestView {
        RequestView(record, isOnAir: onAir.contains(record.sid))
    }
}
