package import GotchuAPI
package import GotchuCore
import NIOHTTP1

/// Calls for deposits, withdrawals and the account at the provider.
extension PaymentClient {
    /// Opens an intent. The user pays it on one of the provider's pages, which adds money to the
    /// wallet.
    ///
    /// - Parameter key: The idempotency key. A call repeated with the same key returns the same
    ///   intent.
    /// - Returns: The intent. While it can be paid, it includes the address of its page. Refused
    ///   with `FUNDING_NOT_CONFIGURED`, `DEPOSIT_LIMIT`, `VALIDATION_ERROR` or
    ///   `IDEMPOTENCY_KEY_REUSED`.
    package func openIntent(_ amountCents: Int64, key: IdempotencyKey) async -> Answer<IntentReply>
    {
        let body = JSONValue.object([
            "amount_cents": .integer(amountCents), "presentation": .string("hosted"),
        ])
        let bytes = CanonicalJSON.bytes(of: body)
        return decode(
            await keyed("/api/payments/intents", body: bytes, key: key),
            textLimit: Self.longTextLimit
        )
    }

    /// Returns the newest intents, newest first.
    package func intents() async -> Answer<IntentsReply> {
        decode(await raw(.GET, "/api/payments/intents?limit=25"))
    }

    /// Returns an intent in its current state. Refused with `NOT_FOUND`.
    package func intent(_ id: String) async -> Answer<IntentReply> {
        decode(await raw(.GET, "/api/payments/intents/\(percentEncoded(id))"))
    }

    /// Cancels an intent. If it has ended otherwise, the call is refused with `INTENT_SETTLED`.
    package func cancelIntent(_ id: String) async -> Answer<IntentReply> {
        decode(await raw(.POST, "/api/payments/intents/\(percentEncoded(id))/cancel", body: []))
    }

    /// Orders a withdrawal.
    ///
    /// - Parameters:
    ///   - body: The exact bytes from the journal.
    ///   - key: The idempotency key from the journal, the same for all sends.
    /// - Returns: The withdrawal. Refused with `INSUFFICIENT_WALLET_BALANCE`, `PAYEE_NOT_ONBOARDED`
    ///   or `WALLET_OWES`; such a refusal is final for this key. After `.unknown`, retry only with
    ///   the same bytes and key.
    package func withdraw(body: [UInt8], key: IdempotencyKey) async -> Answer<WithdrawalReply> {
        decode(await keyed("/api/wallet/withdrawals", body: body, key: key))
    }

    /// Returns the newest withdrawals, newest first.
    package func withdrawals() async -> Answer<WithdrawalsReply> {
        decode(await raw(.GET, "/api/wallet/withdrawals?limit=25"))
    }

    /// Returns the state of the caller's account at the provider.
    package func connectStatus() async -> Answer<ConnectStatusReply> {
        decode(await raw(.GET, "/api/connect/status"))
    }

    /// Creates a link to the pages on which a payee gives their details. The link works once.
    package func connectLink() async -> Answer<ConnectLinkReply> {
        decode(
            await raw(.POST, "/api/connect/links", body: Array("{}".utf8)),
            textLimit: Self.longTextLimit
        )
    }
}
