/// How rows of the outbox become values.
extension LedgerRow where Self: ~Copyable {
    /// Of `WebhookQueries.endpoints`.
    borrowing func webhookEndpoint() throws -> WebhookEndpoint {
        WebhookEndpoint(
            id: try text(0),
            url: try text(1),
            payee: try optionalText(2).map(UserID.init(trusted:)),
            createdAt: try time(3),
            disabled: try optionalText(4),
            pendingCount: try integer(5),
            deadCount: try integer(6)
        )
    }

    /// Of `WebhookQueries.delivery`.
    borrowing func webhookDelivery(_ name: WebhookDelivery.Name) throws -> WebhookDelivery {
        guard let kind = SessionEvent.Kind(rawValue: try text(17)) else {
            throw corrupt("an event")
        }
        return WebhookDelivery(
            name: name,
            attempt: try integer(16),
            kind: kind,
            session: try session(),
            at: try time(18),
            refund: try optionalInteger(19),
            refunded: try integer(20),
            giveUpAt: try time(21),
            url: try text(22),
            secret: try blob(23)
        )
    }

    /// Of `WebhookQueries.backlog`.
    borrowing func webhookBacklogEntry() throws -> WebhookBacklogEntry {
        WebhookBacklogEntry(
            name: WebhookDelivery.Name(endpoint: try text(0), event: try text(1)),
            kind: try text(2),
            session: try text(3),
            attempts: try integer(4),
            nextTryAt: try time(5),
            error: try optionalText(6)
        )
    }
}
