package import GotchuCore
internal import Ledger

extension SessionID {
    /// A new id, made like every other of the ledger's.
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

    /// A new id from the system's secure generator.
    package static func make(at time: Timestamp = .now) -> SessionID {
        var generator = SystemRandomNumberGenerator()
        return make(at: time, using: &generator)
    }
}
