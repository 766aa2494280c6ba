/// A session as a payer who heard its EID may see it.
package struct PublishedSession: Equatable, Sendable {
    package let session: Session
    package let payeeName: String

    package init(session: Session, payeeName: String) {
        self.session = session
        self.payeeName = payeeName
    }
}
