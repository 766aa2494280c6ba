package import GotchuCore
internal import Ledger

extension SessionID {
    /// Creates an id in the same way as every other id of the ledger.
    package static func make(
        at time: Timestamp = .now,
        using generator: inout some RandomNumberGenerator
    ) -> SessionID {
        let text = RecordID.make(at: time, using: &generator).rawValue
        guard let id = SessionID(rawValue: text) else {
            preconditionFailure("a UUID is a valid session id")
        }
        return id
    }

    /// Creates an id with the system's secure random generator.
    package static func make(at time: Timestamp = .now) -> SessionID {
        var generator = SystemRandomNumberGenerator()
        return make(at: time, using: &generator)
    }
}
