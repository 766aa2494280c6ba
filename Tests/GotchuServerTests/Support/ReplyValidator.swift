import NIOCore
import Testing

@testable import GotchuServer

/// Validates the replies that this process receives against the API descriptions.
actor ReplyValidator {
    static let shared = ReplyValidator()

    private var loading: Task<Contract, any Error>?

    /// Records an issue for each part of a reply that does not match the description.
    func validate(_ method: String, _ path: String, _ reply: WireReply) async throws {
        let isOfContests =
            ["/api/contests", "/api/custom-contests", "/contests/", "/contest-assets/"]
            .contains(where: path.hasPrefix)
        let contract = try await isOfContests ? contests : contract
        for violation in contract.violations(method, path, reply) {
            Issue.record("\(method) \(path): \(reply.status): \(violation): \(reply.text)")
        }
    }

    private var loadingContests: Task<Contract, any Error>?

    /// The description of the contest API, read once.
    var contests: Contract {
        get async throws {
            if let loadingContests { return try await loadingContests.value }
            // SAFETY: this actor owns the task, awaits it below, and lives as long as the tests.
            let task = Task { try await Contract(yaml: String(buffer: OpenAPI.contests)) }
            loadingContests = task
            return try await task.value
        }
    }

    /// The description of the API without contests, read once.
    var contract: Contract {
        get async throws {
            if let loading { return try await loading.value }
            // SAFETY: this actor owns the task, awaits it below, and lives as long as the tests.
            let task = Task { try await Contract.served() }
            loading = task
            return try await task.value
        }
    }
}
