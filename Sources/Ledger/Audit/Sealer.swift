internal import GotchuCore
package import Logging
internal import ServiceLifecycle
internal import ServiceProcess

/// Chains transfers together behind the payments' back: a change to one of them, made past the
/// database's own guards, breaks every seal after it.
///
/// Nothing waits for it. Transfers are found by three walks along their names, which grow with the
/// time of the server that made them. The shortest goes on where it has come to; what it has passed
/// of late is counted again each time, and read again where a transfer was committed behind it. No
/// clock is asked: what another server made an hour late, or committed later than that, is found
/// by the longer walks. Of several servers those take them that seal; the others follow the newest
/// transfers, to take over.
package actor Sealer: Service {
    /// How often it looks.
    static let interval: Duration = .seconds(1)
    /// How much of that it may work as long as there is something to seal. Payments are committed
    /// in between, and all of the rest.
    static let budget: Duration = .milliseconds(250)
    /// How far behind the chain's end the shortest walk begins, and for how long what it has passed
    /// is looked after: commits on their way.
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
    /// What of the shortest walk is looked after.
    private var settling = Settling()
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
            try await lookAgain()
            while try await look(.newest) != .end, .now < end, !Task.isCancelled {}
            guard hasSealed || !othersHaveSealed else { return failures.worked() }
            isDaysTurn.toggle()
            let walk: Walk = isDaysTurn ? .day : .everything
            while try await look(walk) == .sealed, .now < end, !Task.isCancelled {}
            failures.worked()
        } catch {
            // Another server of the same books has sealed in between: it does the same work. Or
            // the chain has become shorter, and the next round begins at its end.
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
        let size = walk == .newest ? size.ofNew : size
        let found = try await seal(after: start, size)
        guard let last = found.lookedUpTo else {
            if walk != .newest { positions[walk] = nil }
            return .end
        }
        positions[walk] = last
        newest = newest.map { $0.rawValue < last.rawValue ? last : $0 } ?? last
        if walk == .newest {
            settling.add(Stretch(start: start, end: last, count: found.count))
            if let newest { settling.forget(before: newest.earlier(by: Self.lookback)) }
            if found.count < size.stretch { return .end }
        }
        return found.transfers.isEmpty ? .nothing : .sealed
    }

    /// Counts what the shortest walk has passed of late. Where there are other transfers than it
    /// has seen, it is read again.
    func lookAgain() async throws(LedgerError) {
        for (index, stretch) in settling.stretches.enumerated() {
            guard try await store.transferCount(in: stretch) != stretch.count else { continue }
            var count: Int64 = 0
            var found: Unsealed
            var position = stretch.start
            repeat {
                found = try await seal(after: position, upTo: stretch.end, size.ofNew)
                position = found.lookedUpTo
                count += found.count
            } while found.count == size.ofNew.stretch
            settling.replace(
                at: index,
                with: Stretch(start: stretch.start, end: stretch.end, count: count)
            )
        }
    }

    /// What a look has come to.
    enum Seen {
        case sealed, nothing
        /// There is nothing behind for now. A longer walk begins anew.
        case end
    }

    private func beginning(of walk: Walk) async throws(LedgerError) -> TransferID? {
        guard walk != .everything else { return nil }
        let head = try await store.sealHead()
        guard head.number > 0 else { return nil }
        return head.transfer.earlier(by: walk == .day ? Self.day : Self.lookback)
    }

    /// A replica that takes over may lack the newest seals: what they were for is passed already.
    private func beginAnew(at end: Seal) throws(LedgerError) {
        head = end
        positions = [:]
        settling = Settling()
        throw LedgerError(.rejected, "The chain is shorter than it was.")
    }

    /// Looks at one stretch and seals what in it has no seal, up to one bite.
    private func seal(
        after start: TransferID?,
        upTo end: TransferID? = nil,
        _ size: Bite
    ) async throws(LedgerError) -> Unsealed {
        let found = try await store.unsealed(after: start, upTo: end, size)
        if let head, head != found.head { othersHaveSealed = true }
        if let head, found.head.number < head.number { try beginAnew(at: found.head) }
        head = found.head
        guard !found.transfers.isEmpty else { return found }
        var seals: [Seal] = []
        for transfer in found.transfers {
            seals.append((seals.last ?? found.head).next(over: transfer))
        }
        try await store.append(seals)
        head = seals.last
        hasSealed = true
        return found
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
