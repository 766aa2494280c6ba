/// What became of a change of EIDs: the session with its present one, and what that replaced.
package struct Rotation: Equatable, Sendable {
    package let session: Session
    package let replaced: RetiredEID

    package init(session: Session, replaced: RetiredEID) {
        self.session = session
        self.replaced = replaced
    }
}
