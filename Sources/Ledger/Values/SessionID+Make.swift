package import GotchuCore

extension SessionID {
    /// A new name, made like every other of the ledger's.
    package static func make(
        at time: Timestamp = .now,
        using generator: inout some RandomNumberGenerator
    ) -> SessionID {
        let text = TransferID.make(at: time, using: &generator).rawValue
        guard let id = SessionID(rawValue: text) else {
            preconditionFailure("a UUID is a valid session id")
        }
        return id
    }

    /// A new name from the system's secure generator.
    package static func make(at time: Timestamp = .now) -> SessionID {
        var generator = SystemRandomNumberGenerator()
        return make(at: time, using: &generator)
    }
}
