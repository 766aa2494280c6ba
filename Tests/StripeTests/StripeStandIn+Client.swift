import StripeTestSupport
import TestSupport

@testable import Stripe

extension StripeStandIn {
    /// Returns a client of the stand-in.
    func client(
        key: String = "sk_test_standin",
        limit: Duration = .seconds(10)
    ) throws -> StripeClient {
        guard let secret = StripeSecretKey(key) else {
            throw NeverHappened(description: "\(key) is a key")
        }
        return StripeClient(address: address, secret: secret, http: http, limit: limit)
    }
}
