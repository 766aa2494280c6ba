import GotchuAPI
import GotchuCore

extension PresenceService.State {
    /// Adds a caller that waits for the radio to begin listening.
    mutating func addListeningWaiter(
        _ moment: AsyncStream<MonotonicTime>.Continuation
    ) -> UInt64 {
        if let scanningSince { moment.yield(scanningSince) }
        nextWaiterID += 1
        listeningWaiters[nextWaiterID] = moment
        return nextWaiterID
    }

    mutating func setScanning(_ isScanning: Bool) {
        scanningSince = isScanning ? scanningSince ?? .now : nil
        guard let scanningSince else { return }
        for start in listeningWaiters.values { start.yield(scanningSince) }
    }

    mutating func recordNearness(of sighting: Sighting) {
        guard let rssi = sighting.rssi,
            Double(rssi.dBm) >= policy.near(on: sighting.adapter).enter,
            nearSince[sighting.eid] == nil, board.contains(sighting.eid)
        else { return }
        nearSince[sighting.eid] = sighting.time
    }

    func view(
        of presence: Presence,
        at now: MonotonicTime,
        session: ResolvedSession?
    ) -> PresenceView {
        let wall = Timestamp.now
        let margin = board.margin(of: presence)
        return PresenceView(
            eid: presence.eid,
            verdict: presence.verdict,
            rssiDBm: presence.lastRSSI?.dBm,
            smoothedDBm: presence.level.map { ($0 * 10).rounded() / 10 },
            marginDB: margin.map { ($0 * 10).rounded() / 10 },
            carrier: presence.carrier,
            adapter: presence.adapter,
            firstHeardAt: wall.advanced(by: presence.firstHeard - now),
            lastHeardAt: wall.advanced(by: presence.lastHeard - now),
            rateHz: (presence.rate * 10).rounded() / 10,
            reason: presence.reason(margin: margin),
            session: session
        )
    }
}
