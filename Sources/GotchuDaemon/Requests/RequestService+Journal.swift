import GotchuAPI
import Logging

/// The journal's records of the start and end of a request.
extension RequestService {
    /// Journals that the till is told of a request. Without this record, the next start cancels the
    /// request.
    func journalStart(_ record: RequestRecord) async {
        do throws(JournalFailure) {
            try await journal.append(.request(record))
        } catch {
            logger.warning(
                "A request will not be resumed after a restart",
                metadata: ["request": "\(record.sid)", "reason": "\(error.sentence)"]
            )
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
