import GotchuAPI
import Logging

/// The journal's record of the end of a request.
extension RequestService {
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
