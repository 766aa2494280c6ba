import GotchuAPI
import GotchuCore

extension RequestService {
    /// Records how many shares of an open request are held and paid, and the state of the contest
    /// that is entered at it.
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
