import GotchuAPI
import GotchuCore
import Logging
import PaymentClient

/// The change of an open request's EID. A till then cannot be tracked by its EID.
///
/// The intention to change is journalled before the server is asked. The new EID is journalled
/// before it is on the air. If a crash loses the server's answer, the same call returns it again.
extension RequestService {
    /// The outcome of an attempt to change an EID.
    enum Rotation: Sendable {
        case done
        /// A payer has locked the request, or it has ended.
        case notNow
        /// The server refuses to change the EID of this request.
        case refused
        case unanswered(retryAfter: Duration?)
    }

    func rotate(_ id: SessionID) async -> Rotation {
        guard let record = records[id], record.state == .advertising else { return .notNow }
        if record.isRotating != true {
            guard await change(id, { $0.isRotating = true }) else {
                return .unanswered(retryAfter: nil)
            }
        }
        switch await client.rotateEID(of: id, replacing: record.eid) {
        case .success(let reply):
            guard records[id]?.state.isFinal == false else { return .notNow }
            // If this write fails, the journal still contains the intention to change.
            _ = await change(id) { record in
                record.firstEID = record.firstEID ?? record.eid
                record.eid = reply.eid
                record.isRotating = nil
            }
            await replaceOnAir(id, by: reply.eid)
            logger.info("A request has a new EID", metadata: ["request": "\(id)"])
            if let now = records[id] { publish(now) }
            return .done
        case .refused:
            _ = await change(id) { $0.isRotating = nil }
            return .refused
        case .unauthorized: return .unanswered(retryAfter: nil)
        case .unknown(let outage): return .unanswered(retryAfter: outage.retryAfter)
        }
    }

    /// Changes a record in memory and in the journal.
    ///
    /// - Returns: True if the change was journalled.
    private func change(
        _ id: SessionID,
        _ change: (inout RequestRecord) -> Void
    ) async -> Bool {
        guard var record = records[id] else { return false }
        change(&record)
        records[id] = record
        do throws(JournalFailure) {
            try await journal.append(.request(record))
        } catch {
            logger.warning(
                "A request's new EID was not journalled",
                metadata: ["request": "\(id)", "reason": "\(error.sentence)"]
            )
            return false
        }
        // The request may have ended during the write. If so, its end was journalled before this
        // record and is written again.
        if let now = records[id], now.state.isFinal { try? await journal.append(.request(now)) }
        return true
    }
}
