import GotchuAPI
import GotchuCore
import Logging
import PaymentClient

/// A request that is open for long changes its EID, so that nobody can follow a till by it.
///
/// The journal knows each EID before it is on the air, and that another is being asked for before
/// the server is asked: after a crash the same question gets the answer that was lost.
extension RequestService {
    /// The outcome of an attempt to change an EID.
    enum Rotation: Sendable {
        case done
        /// A payer is at it, or it has ended.
        case notNow
        /// The server will not do it for this request.
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
            // If the journal cannot take it, it still says that another is being asked for.
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

    /// Changes a record here and in the journal.
    ///
    /// - Returns: True if the journal has it.
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
        // It may have ended meanwhile, and its end stands in the journal before this.
        if let now = records[id], now.state.isFinal { try? await journal.append(.request(now)) }
        return true
    }
}
