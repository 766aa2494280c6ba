import GotchuAPI
import GotchuCore
import LocalAPI
import PaymentClient

/// Contest calls. Entries are journalled. All other calls are forwarded.
extension DaemonBackend {
    /// The maximum wait for the outcome of an entry. It is shorter than the timeout of a local
    /// call.
    private static let entryTimeout: Duration = .seconds(20)

    func contest(_ call: ContestCall) async throws(Problem) -> ContestAnswer {
        switch try await loggedIn().contest(call) {
        case .refused(let problem): throw problem.withContestFields
        case .unknown(let outage) where outage.code == .unreadable: throw .badServerAnswer
        case let answer: return try answer.getOrThrow(core.tokens)
        }
    }

    func joinContest(
        _ new: NewContestEntry,
        key: IdempotencyKey
    ) async throws(Problem) -> ContestAnswer {
        let created = try await contestEntryService.create(new, key: key)
        let id = created.view.id
        let (entry, reply) = try await contestEntryService.end(of: id, within: Self.entryTimeout)
        switch entry.end {
        case .joined:
            if var reply {
                reply.isReplay = reply.isReplay || created.isReplay
                return reply
            }
            // The entry was made earlier. Only the contest is read.
            var detailCall = ContestCall(.get, "/\(new.contest)", document: ContestDetail.self)
            detailCall.language = new.language
            var answer = try await contest(detailCall)
            (answer.isReplay, answer.tag) = (true, nil)
            return answer
        case .declined(let problem):
            guard problem.errorCode != .unauthorized else { throw .loginRefused(core.tokens) }
            throw problem.withContestFields
        case nil:
            let serverReason =
                entry.reason?.refusal.map { " The server says: \($0.detail)" } ?? ""
            throw Problem(
                .serverUnreachable,
                detail: "The payment server has not confirmed the entry. gotchud keeps asking, "
                    + "with the same key: the fee is taken once at most.\(serverReason)",
                fix: "gotchu-ctl contest show \(new.contest)",
                retryable: true
            )
        }
    }
}

extension Problem {
    fileprivate static var badServerAnswer: Problem {
        Problem(
            .badServerAnswer,
            detail: "The payment server's answer is not a valid contest document. The call may "
                + "have been carried out; repeated with the same key, it takes effect only once.",
            fix: "gotchu-ctl doctor",
            retryable: true
        )
    }
}
