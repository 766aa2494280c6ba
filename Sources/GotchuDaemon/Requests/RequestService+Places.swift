import GotchuAPI
import GotchuCore

extension RequestService {
    /// Records how many shares of an open request are held and paid.
    func recordPlaces(_ places: Places?, of id: SessionID) {
        guard let places, var record = records[id], !record.state.isFinal,
            record.places != places
        else { return }
        record.places = places
        records[id] = record
        notices[id] = nil
        publish(record)
    }
}
