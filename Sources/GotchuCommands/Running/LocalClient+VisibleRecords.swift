import GotchuAPI
import LocalAPI

extension LocalClient {
    /// Returns the daemon's requests and payments; `nil` for those that this user may not see.
    /// Throws the refusal if the user may see neither.
    func visibleRecords() async throws -> (requests: [RequestView]?, payments: [PaymentView]?) {
        let requests = try await nilIfNotPermitted { try await self.requests() }
        guard let requests else { return (nil, try await self.payments()) }
        return (requests, try await nilIfNotPermitted { try await self.payments() })
    }

    private func nilIfNotPermitted<List>(_ call: () async throws -> List) async throws -> List? {
        do {
            return try await call()
        } catch LocalClientFailure.problem(let problem) where problem.errorCode == .notPermitted {
            return nil
        }
    }
}
