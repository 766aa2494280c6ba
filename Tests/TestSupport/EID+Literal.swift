package import GotchuCore

extension EID {
    /// An EID that a test names; ends the test run if it is not one.
    package init(literal text: String) {
        guard let eid = EID(text) else { preconditionFailure("not an EID: \(text)") }
        self = eid
    }
}
