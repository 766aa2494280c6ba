import Testing

@testable import GotchuServer

/// Holds every answer that the tests of this process get against the description, and remembers
/// which codes were seen.
actor ContractJudge {
    static let shared = ContractJudge()

    private var loading: Task<Contract, any Error>?

    /// Records an issue for whatever an answer has that is not described.
    func judge(_ method: String, _ path: String, _ reply: WireReply) async throws {
        let isOfContests =
            ["/api/contests", "/api/custom-contests", "/contests/", "/contest-assets/"]
            .contains(where: path.hasPrefix)
        let contract = try await isOfContests ? contests : contract
        for violation in contract.violations(method, path, reply) {
            Issue.record("\(method) \(path): \(reply.status): \(violation): \(reply.text)")
        }
    }

    private var loadingContests: Task<Contract, any Error>?

    /// The description of contests, read once.
    var contests: Contract {
        get async throws {
            if let loadingContests { return try await loadingContests.value }
            // SAFETY: owned by this actor, which lives as long as the tests; awaited just below.
            let task = Task { try await Contract(yaml: OpenAPI.contests) }
            loadingContests = task
            return try await task.value
        }
    }

    /// The description, read once.
    var contract: Contract {
        get async throws {
            if let loading { return try await loading.value }
            // SAFETY: owned by this actor, which lives as long as the tests; awaited just below.
            let task = Task { try await Contract.served() }
            loading = task
            return try await task.value
        }
    }
}
