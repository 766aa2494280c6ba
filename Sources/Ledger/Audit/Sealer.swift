internal import GotchuCore
package import Logging
internal import ServiceLifecycle

/// Chains transfers together behind the payments' back: a change to one of them, made past the
/// database's own guards, breaks every seal after it.
///
/// Nothing waits for it, and it takes small bites. Most transfers are found at the end, since their
/// names grow with time; one that was committed late, behind others that are sealed already, is
/// found by a second look that goes round and round through all of them.
package actor Sealer: Service {
    /// How often it looks.
    static let interval: Duration = .seconds(1)
    /// How many transfers are looked at, and sealed, at once.
    static let bite = 512
    /// How far behind the newest seal the first look begins.
    static let lookback: Duration = .seconds(30)

    private let store: any LedgerStore
    private let logger: Logger
    /// Where the second look goes on.
    private var round: TransferID?

    package init(store: any LedgerStore, logger: Logger) {
        self.store = store
        self.logger = logger
    }

    package func run() async {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                try? await Task.sleep(for: Self.interval)
                await self.work()
            }
        }
    }

    /// Seals what there is, however much; what fails is left for the next time.
    private func work() async {
        do {
            while !Task.isCancelled, try await sealNewest() {}
            _ = try await sealRound()
        } catch {
            logger.info("Transfers could not be sealed.", metadata: ["error": "\(error)"])
        }
    }

    /// - Returns: Whether there may be more.
    package func sealNewest() async throws(LedgerError) -> Bool {
        let head = try await store.sealHead()
        var start: TransferID?
        if head.number > 0 { start = head.transfer.earlier(by: Self.lookback) }
        var count = 0
        while true {
            let found = try await store.unsealed(after: start, limit: Self.bite)
            count += found.transfers.count
            try await seal(found)
            guard let last = found.lookedUpTo, !Task.isCancelled else { return false }
            // With a backlog each bite is its own commit, and payments come between.
            if count >= Self.bite { return true }
            start = last
        }
    }

    /// Looks at the next stretch of all transfers.
    ///
    /// - Returns: Whether it has come round.
    package func sealRound() async throws(LedgerError) -> Bool {
        let found = try await store.unsealed(after: round, limit: Self.bite)
        try await seal(found)
        round = found.lookedUpTo
        return round == nil
    }

    private func seal(_ found: Unsealed) async throws(LedgerError) {
        guard !found.transfers.isEmpty else { return }
        var seals: [Seal] = []
        for transfer in found.transfers {
            seals.append((seals.last ?? found.head).next(over: transfer))
        }
        try await store.append(seals)
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
