internal import GotchuCore
package import Logging
internal import ServiceLifecycle
internal import ServiceProcess

/// Chains transfers together behind the payments' back: a change to one of them, made past the
/// database's own guards, breaks every seal after it.
///
/// Nothing waits for it. Transfers are found by three walks along their names, which grow with the
/// time of the server that made them. No clock is asked: what another server made an hour late, or
/// committed behind others that are sealed already, is found by the longer walks. Of several
/// servers those take them that seal; the others follow the newest transfers, to take over.
package actor Sealer: Service {
    /// How often it looks.
    static let interval: Duration = .seconds(1)
    /// How much of that it may work as long as there is something to seal. Payments are committed
    /// in between, and all of the rest.
    static let budget: Duration = .milliseconds(250)
    /// How far behind the newest it has seen the shortest walk begins: commits on their way.
    static let lookback: Duration = .seconds(5)
    /// How far behind the newest seal the middle walk begins: `verify` allows no more.
    static let day: Duration = .seconds(86_400)

    enum Walk: CaseIterable {
        case newest, day, everything
    }

    private let store: any LedgerStore
    private let size: Bite
    private var failures: FailureLog
    /// Where each walk goes on; one that is not here begins anew.
    private var positions: [Walk: TransferID] = [:]
    /// The last name in all that was looked at.
    private var newest: TransferID?
    private var isDaysTurn = false
    /// The chain's end as it was seen last.
    private var head: Seal?
    /// Whether this one, and whether another one, has continued the chain of late.
    private var hasSealed = false
    private var othersHaveSealed = false

    package init(store: any LedgerStore, logger: Logger) {
        self.init(store: store, logger: logger, size: Bite())
    }

    init(store: any LedgerStore, logger: Logger, size: Bite) {
        self.store = store
        self.size = size
        failures = FailureLog(
            logger,
            failure: "Transfers could not be sealed.",
            recovery: "Transfers are sealed again."
        )
    }

    package func run() async {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                // Off the hot path: no payment wakes it, so that it looks now and then.
                try? await Task.sleep(for: Self.interval)
                await self.work(within: Self.budget)
            }
        }
    }

    /// Seals what there is as long as it may, and looks at one more stretch of a longer walk. What
    /// fails is left for the next time.
    func work(within budget: Duration) async {
        let end = ContinuousClock.now + budget
        hasSealed = false
        othersHaveSealed = false
        do throws(LedgerError) {
            while try await look(.newest) != .end, .now < end, !Task.isCancelled {}
            guard hasSealed || !othersHaveSealed else { return failures.worked() }
            isDaysTurn.toggle()
            let walk: Walk = isDaysTurn ? .day : .everything
            while try await look(walk) == .sealed, .now < end, !Task.isCancelled {}
            failures.worked()
        } catch {
            // Another server of the same books has sealed in between: it does the same work.
            guard error.code != .rejected else { return }
            failures.failed(error)
        }
    }

    /// Looks at the next stretch of a walk, and seals what in it has no seal, up to one bite.
    func look(_ walk: Walk) async throws(LedgerError) -> Seen {
        let start: TransferID?
        if let position = positions[walk] {
            start = position
        } else {
            start = try await beginning(of: walk)
        }
        let found = try await store.unsealed(after: start, size)
        if let head, head != found.head { othersHaveSealed = true }
        head = found.head
        try await seal(found)
        positions[walk] = found.lookedUpTo
        guard let last = found.lookedUpTo else { return .end }
        newest = newest.map { $0.rawValue < last.rawValue ? last : $0 } ?? last
        return found.transfers.isEmpty ? .nothing : .sealed
    }

    /// What a look has come to.
    enum Seen {
        case sealed, nothing
        /// There is nothing behind; the walk begins anew.
        case end
    }

    private func beginning(of walk: Walk) async throws(LedgerError) -> TransferID? {
        guard walk != .everything else { return nil }
        if walk == .newest, let newest { return newest.earlier(by: Self.lookback) }
        let head = try await store.sealHead()
        guard head.number > 0 else { return nil }
        return head.transfer.earlier(by: walk == .day ? Self.day : Self.lookback)
    }

    private func seal(_ found: Unsealed) async throws(LedgerError) {
        guard !found.transfers.isEmpty else { return }
        var seals: [Seal] = []
        for transfer in found.transfers {
            seals.append((seals.last ?? found.head).next(over: transfer))
        }
        try await store.append(seals)
        head = seals.last
        hasSealed = true
    }
}

extension TransferID {
    /// A name as it would have been made so much earlier, before all others of that moment.
    func earlier(by duration: Duration) -> TransferID {
        let digits = rawValue.filter { $0 != "-" }.prefix(12)
        guard let milliseconds = Int64(digits, radix: 16) else { return self }
        let time = max(0, milliseconds - duration.wholeMilliseconds)
        let text = String(time, radix: 16)
        let padded = String(repeating: "0", count: 12 - text.count) + text
        return TransferID(trusted: "\(padded.prefix(8))-\(padded.suffix(4))")
    }
}
