import GotchuAPI
import Logging
import PaymentClient
import Radio

/// The journal's records of the beginning and end of a request.
extension RequestService {
    /// Journals a new request: first as begun, then as one that the till is told of.
    ///
    /// - Returns: The request as journalled.
    /// - Throws: A problem if the till is told nothing. The request is then cancelled.
    func journalBeginning(of record: RequestRecord) async throws(Problem) -> RequestRecord {
        do throws(JournalFailure) {
            try await journal.append(.request(record))
        } catch {
            if case .uncertain = error {
                scheduleCancellation(of: record)
            } else {
                await abandon(record, because: error.sentence)
            }
            throw Problem(error)
        }
        var told = record
        told.isBegun = nil
        do throws(JournalFailure) {
            try await journal.append(.request(told))
        } catch {
            scheduleCancellation(of: record)
            throw Problem(error)
        }
        return told
    }

    /// Cancels a request that could not be put on the air.
    ///
    /// - Returns: The problem for the caller.
    func giveUp(_ record: RequestRecord, because failure: RadioFailure) async -> Problem {
        if await abandon(record, because: failure.sentence) {
            return Problem(.radioUnavailable, detail: failure.sentence, fix: failure.fix)
        }
        scheduleCancellation(of: record)
        return Problem(
            .outcomeUnknown,
            detail: "The request could not be put on the air, and that could not be recorded.",
            fix: "gotchu-ctl history"
        )
    }

    /// Adds a request that is in the journal, or may be, and of which the till is told nothing. It
    /// is never advertised: its driver cancels it at the server.
    private func scheduleCancellation(of record: RequestRecord) {
        var record = record
        (record.state, record.isBegun, record.call) = (.unknown, true, nil)
        records[record.sid] = record
        watchQueue.append(record.sid)
        wake.yield()
        publish(record)
    }

    /// Cancels a request of which the till was told nothing.
    ///
    /// - Returns: False if its end was not journalled: the next start may put it on the air.
    @discardableResult
    private func abandon(_ record: RequestRecord, because reason: String) async -> Bool {
        counts.abandoned += 1
        logger.warning("A request was given up", metadata: ["reason": "\(reason)"])
        _ = await client.cancel(record.sid)
        var ended = record
        ended.state = .cancelled
        // The caller got an error. A repeated call is a new attempt.
        ended.call = nil
        do throws(JournalFailure) {
            try await journal.append(.request(ended))
            return true
        } catch {
            return false
        }
    }

    /// Journals the end of a request. At each start the server is asked about open requests.
    func journalEnd(_ record: RequestRecord) async {
        let request: Logger.Metadata = ["request": "\(record.sid)"]
        logger.notice(
            "Request has ended",
            metadata: request.merging(["state": "\(record.state.rawValue)"]) { $1 }
        )
        do throws(JournalFailure) {
            try await journal.append(.request(record))
        } catch {
            logger.warning(
                "The end of a request was not journalled",
                metadata: request.merging(["reason": "\(error.sentence)"]) { $1 }
            )
        }
    }
}
