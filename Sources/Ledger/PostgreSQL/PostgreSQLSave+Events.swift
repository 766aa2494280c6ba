internal import GotchuCore
internal import Postgres

/// Writing the outbox.
extension PostgreSQLSave {
    /// Nothing is written where nobody wants to be told. One statement an event: there are few in a
    /// batch besides payments, and they all travel together.
    var events: [Query] {
        effects.newEvents.map { event in
            Query(
                WebhookQueries.enqueue,
                [
                    .text(event.id), .text(event.kind.rawValue), .text(event.session.id.rawValue),
                    .integer(event.at.milliseconds), .integer(event.refund),
                    .integer(event.session.refunded), .text(event.session.payee.rawValue),
                ]
            )
        }
    }
}
