import GotchuAPI
import GotchuCore
import LocalAPI
import Logging
import PaymentClient
import Radio
import ServiceLifecycle

/// The kiosk's role: creates a session at the server, advertises it, and follows it to its end.
actor RequestService: Service, IdempotentCreation, LocalCollection {
    /// The maximum number of open requests.
    static let openLimit = 16
    /// The maximum number of requests in memory. Beyond it, the oldest ended ones are evicted.
    static let memoryLimit = 200
    /// The time after its expiry after which a request without a final answer becomes `unknown`.
    static let expiryGrace: Duration = .seconds(2)

    /// The outcomes of requests since the start.
    struct Counts: Sendable {
        /// The number of requests that were put on the air.
        var started = 0
        var ended: [RequestView.State: Int] = [:]
        /// The number of created requests that could not be journalled or advertised.
        var abandoned = 0
    }

    let client: PaymentClient
    let radio: any Radio
    let logger: Logger
    let journal: any RecordJournal
    /// The time after which an open request changes its EID; `nil` if it keeps one EID.
    let eidLifetime: Duration?
    /// Called with each step of each request, in order.
    private let onStep: @Sendable (RequestStep) -> Void
    let tokens: TokenStore
    private let hub: EventHub

    var records = RecordTable<SessionID, RequestRecord>()
    var air = AirState()
    /// The time at which the server last reported a payer's device at the till, by open request.
    /// Not kept over a restart.
    var noticedAt: [SessionID: Timestamp] = [:]
    /// The refunded amount of each request, as last read from the payment server. Not kept over a
    /// restart.
    var refunded: [SessionID: Int64] = [:]
    var watchQueue: [SessionID] = []
    /// The number of requests that are being created. They are not in `records` yet.
    private var creating = 0
    /// The EIDs of the requests that are being journalled, by session.
    private var opening: [SessionID: EID] = [:]
    /// The number of attempts to create a request since the start.
    private var attempts = 0
    var inFlight: [IdempotencyKey: InFlightCall] = [:]
    private var isStopping = false
    var counts = Counts()
    let (wakes, wake) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let (airWakes, airWake) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

    init(
        client: PaymentClient,
        tokens: TokenStore,
        radio: any Radio,
        eidLifetime: Duration?,
        journal: any RecordJournal,
        hub: EventHub,
        logger: Logger,
        onStep: @escaping @Sendable (RequestStep) -> Void = { _ in }
    ) {
        self.client = client
        self.tokens = tokens
        self.radio = radio
        self.eidLifetime = eidLifetime
        self.onStep = onStep
        self.journal = journal
        self.hub = hub
        self.logger = logger
        for case .request(var record) in journal.contentsAtStart.records {
            // The till was not told of it. A repeated call is a new request.
            let isBegun = record.isBegun == true
            if isBegun, !record.state.isFinal { (record.state, record.call) = (.unknown, nil) }
            let canEnd = record.server == client.server.description
            if !record.state.isFinal {
                // Another server cannot report the outcome of the request.
                if canEnd { watchQueue.append(record.sid) } else { record.state = .unknown }
            }
            records[record.sid] = record
            if !record.state.isFinal, !isBegun {
                onStep(.resumed(RequestView(record, noticedAt: nil, isOnAir: false)))
            }
        }
        if !watchQueue.isEmpty { wake.yield() }
    }

    func run() async throws {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.runAirSchedule() }
            for await _ in wakes.cancelOnGracefulShutdown() {
                for id in popWatchQueue() {
                    group.addTask { await RequestDriver(id: id, service: self).run() }
                }
            }
            isStopping = true
            group.cancelAll()
        }
        for id in air.targets.keys { await takeOffAir(id) }
    }

    func created(under key: IdempotencyKey) -> (call: IdempotentCall, view: RequestView)? {
        for record in records.values {
            if let call = record.call, call.key == key { return (call, view(record)) }
        }
        return nil
    }

    /// Creates a request. Returns once it is on the air.
    func make(_ new: NewRequest, call: IdempotentCall?) async throws(Problem) -> RequestView {
        try requireRoom()
        creating += 1
        attempts += 1
        let attempt = attempts
        defer { creating -= 1 }
        onStep(.sessionRequested(attempt, new))
        do throws(Problem) {
            let record = try await open(new, call: call)
            onStep(.opened(attempt, view(record)))
            publish(record)
            return view(record)
        } catch {
            onStep(.sessionRequestFailed(attempt))
            throw error
        }
    }

    /// Creates a session at the server, journals it, and puts it on the air.
    private func open(
        _ new: NewRequest,
        call: IdempotentCall?
    ) async throws(Problem) -> RequestRecord {
        let session = try await client.createSession(CreateSessionRequest(new)).getOrThrow(tokens)
        guard isNew(session) else {
            throw Problem(
                .badServerAnswer,
                detail: "The payment server's answer is about another request of this till.",
                fix: "gotchu-ctl doctor"
            )
        }
        opening[session.sid] = session.eid
        defer { opening[session.sid] = nil }
        // The expiry is by this device's clock, which may differ from the server's.
        let end = Timestamp.now.advanced(
            by: .seconds(new.ttlSeconds ?? Self.allowedSeconds.upperBound)
        )
        var record = RequestRecord(
            sid: session.sid,
            eid: session.eid,
            server: client.server.description,
            amountCents: new.amountCents,
            tipCents: new.allowsTip == true ? 0 : nil,
            places: new.split.map(Places.init),
            isAllOrNothing: new.split?.isAllOrNothing == true ? true : nil,
            currency: new.currency ?? .usd,
            memo: new.memo,
            createdAt: .now,
            // A desk ends when its contest locks. A time that is past says that a clock is wrong:
            // the server's last event then ends it.
            expiresAt: new.contestID == nil || session.expiresAt < .now
                ? end : min(end, session.expiresAt),
            state: .advertising,
            isBegun: true,
            paidAt: nil,
            payee: session.payee?.name,
            publicURL: session.publicURL,
            call: call
        )
        record = try await journalBeginning(of: record)
        do throws(RadioFailure) {
            try await bringOnAir(record.sid, record.eid)
        } catch {
            throw await giveUp(record, because: error)
        }
        counts.started += 1
        records[record.sid] = record
        for id in records.evict(beyond: Self.memoryLimit, where: \.state.isFinal) {
            refunded[id] = nil
        }
        watchQueue.append(record.sid)
        wake.yield()
        logger.notice(
            "Request is on the air",
            metadata: ["request": "\(record.sid)", "amount": "\(record.amount)"]
        )
        return record
    }

    /// Returns false if a request of this till has the session's id, or an open one has its EID.
    private func isNew(_ session: CreateSessionReply) -> Bool {
        let open = records.values.filter { !$0.state.isFinal }.map(\.eid) + opening.values
        return records[session.sid] == nil && opening[session.sid] == nil
            && !open.contains(session.eid)
    }

    private func requireRoom() throws(Problem) {
        guard tokens.token != nil else { throw .notLoggedIn(tokens) }
        guard !isStopping else { throw .stopping }
        guard openCount + creating < Self.openLimit else {
            throw Problem(
                .rateLimited,
                detail: "There are already \(Self.openLimit) open requests.",
                fix: "gotchu-ctl history, then cancel what is not needed"
            )
        }
    }

    /// A Boolean that is true while a request may be paid. Its payee must then stay logged in.
    var hasOpenRequest: Bool { openCount > 0 || creating > 0 }

    private var openCount: Int {
        records.values.count { $0.state == .advertising || $0.state == .locked }
    }

    func view(of id: SessionID) throws(Problem) -> RequestView {
        guard let record = records[id] else {
            throw Problem(
                .notFound,
                detail: "There is no request \(id).",
                fix: "gotchu-ctl history"
            )
        }
        return view(record)
    }

    /// All requests in memory, newest first.
    func views() -> [RequestView] {
        records.values.reversed().map(view)
    }

    /// Cancels a request. Returns an ended request unchanged.
    func cancel(_ id: SessionID) async throws(Problem) -> RequestView {
        let before = try view(of: id)
        if before.state.isFinal { return before }
        let answer = await client.cancel(id)
        if case .success(let session) = answer {
            // A share may have been paid since the last event: the reply has the sum.
            await apply(session, to: id)
            await changeState(of: id, to: .cancelled)
        } else if case .success(let session) = await client.session(id) {
            // The request may have been paid at the same time. The server's state decides.
            await apply(session, to: id)
        }
        if try !view(of: id).state.isFinal { _ = try answer.getOrThrow(tokens) }
        // The server's event may have reported the end first. The request is off the air in any
        // case.
        await takeOffAir(id)
        return try view(of: id)
    }

    func record(_ id: SessionID) -> RequestRecord? { records[id] }

    /// Applies the server's report on a request. Rejects a report that does not match the request:
    /// the payee hands out goods because of it.
    func apply(_ session: SessionReply, to id: SessionID) async {
        guard let record = records[id] else { return }
        let wrong = session.wrongMembers(for: id, record)
        guard wrong.isEmpty else {
            return logger.error(
                "The payment server's reply does not match the request",
                metadata: [
                    "request": "\(id)", "session": "\(session.sid)",
                    "wrong": "\(wrong.joined(separator: ", "))",
                ]
            )
        }
        let state: RequestView.State =
            switch session.status {
            case .created, .advertising: .advertising
            case .locked: .locked
            case .paid: .paid
            case .expired: .expired
            case .cancelled: .cancelled
            }
        let isOld = await !changeState(
            of: id,
            to: state,
            paidAt: session.paidAt,
            tip: session.tipCents?.value,
            places: session.places,
            contest: session.contest
        )
        if isOld { recordPlaces(session.places, session.contest, of: id) }
        onStep(.confirmed(id))
        if session.noticedAt != nil, let record = records[id], record.state == .advertising {
            // The time is by this device's clock, which may differ from the server's.
            noticedAt[id] = .now
            publish(record)
        }
    }

    /// Records that a request has expired without a final answer from the server.
    func recordUnknown(_ id: SessionID) async {
        guard let record = records[id], !record.state.isFinal else { return }
        await changeState(of: id, to: .unknown)
    }

    /// Puts a request that a restart has resumed on the air, as soon as the radio can.
    func putOnAir(_ id: SessionID) async {
        guard let record = records[id], !record.state.isFinal, record.expiresAt > .now,
            air.targets[id] == nil
        else { return }
        await wantOnAir(id, record.eid)
        // The request may have ended before it was on the air.
        guard let now = records[id], !now.state.isFinal, now.state != .unknown else {
            return await takeOffAir(id)
        }
    }

    /// Publishes a request that has come on the air or left it.
    func publishAirChange(of id: SessionID) {
        if let record = records[id] { publish(record) }
    }

    /// - Returns: False if the request is not known, has this state already, or is final.
    @discardableResult
    private func changeState(
        of id: SessionID,
        to state: RequestView.State,
        paidAt: Timestamp? = nil,
        tip: Int64? = nil,
        places: Places? = nil,
        contest: DeskContest? = nil
    ) async -> Bool {
        guard var record = records[id], !record.state.isFinal, record.state != state else {
            return false
        }
        record.state = state
        record.paidAt = paidAt
        record.tipCents = tip ?? record.tipCents
        record.places = places ?? record.places
        record.contest = contest ?? record.contest
        records[id] = record
        noticedAt[id] = nil
        // The change is published first: a customer waits at the till, and the radio may be slow.
        publish(record)
        if state.isFinal || state == .unknown { counts.ended[state, default: 0] += 1 }
        if state.isFinal { await journalEnd(record) }
        if state.isFinal || state == .unknown { await takeOffAir(id) }
        return true
    }

    private func popWatchQueue() -> [SessionID] {
        defer { watchQueue = [] }
        return watchQueue
    }

    func publish(_ record: RequestRecord) {
        let view = view(record)
        onStep(.changed(view))
        hub.publish(.requestChanged(view))
    }

    private func view(_ record: RequestRecord) -> RequestView {
        RequestView(
            record,
            refundedCents: refunded[record.sid],
            noticedAt: noticedAt[record.sid],
            isOnAir: air.isOnAir(record.sid)
        )
    }
}
