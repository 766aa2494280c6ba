package import GotchuCore

extension EID {
    /// Creates an EID from a literal. Ends the test run if the text is not an EID.
    package init(literal text: String) {
        guard let eid = EID(text) else { preconditionFailure("not an EID: \(text)") }
        self = eid
    }
}
