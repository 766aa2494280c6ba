import GotchuAPI
import GotchuCore

extension RequestService {
    /// Records the numbers of locked and paid shares of an open request. For a contest desk, also
    /// records the state of the contest.
    func recordPlaces(_ places: Places?, _ contest: DeskContest?, of id: SessionID) {
        guard let places, var record = records[id], !record.state.isFinal,
            record.places != places || record.contest != contest
        else { return }
        if record.places != places { noticedAt[id] = nil }
        record.places = places
        record.contest = contest
        records[id] = record
        publish(record)
    }
}
