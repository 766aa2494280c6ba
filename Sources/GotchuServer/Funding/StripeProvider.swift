internal import Funding
internal import GotchuCore
internal import Ledger
internal import Stripe

/// The provider of deposits and payouts: makes the calls that `Funding` decides on, and returns the
/// observations. It decides nothing and stores nothing.
struct StripeProvider: Sendable {
    /// The delay after a call that failed because of this server's configuration.
    static let misconfiguredDelay: Duration = .seconds(60)
    /// The delay after a read without a usable result.
    static let unreadableDelay: Duration = .seconds(900)
    /// The delay after a rate limit, unless Stripe sets a longer one.
    static let throttledDelay: Duration = .seconds(5)
    /// The maximum number of pages in a search.
    private static let pageLimit = 200
    /// The maximum number of pages when a whole listing is read.
    static let fullListPageLimit = 100_000
    /// The possible difference between our clock and Stripe's: searches start earlier by this much.
    static let clockDifference: Duration = .seconds(900)

    let client: StripeClient
    /// The server's address for browsers, to which Stripe's pages lead back.
    let site: PublicURL

    /// The result of a call: the observation, and a secret for the payer only.
    struct CallResult: Sendable {
        let observation: Observation
        /// The client secret of a payment or the address of a checkout. Never stored, never logged.
        var secret: String?

        init(_ observation: Observation, secret: String? = nil) {
            self.observation = observation
            self.secret = secret
        }
    }

    func perform(_ call: Call) async -> CallResult {
        switch call {
        case .openDeposit(let order): await open(order)
        case .readDeposit(let reference): await read(reference)
        case .findDeposit(let order): await find(order)
        case .endDeposit(let reference): await end(reference)
        case .openAccount(let order): await open(order)
        case .readAccount(let account): await read(account: account)
        case .findAccount(let order): await find(order)
        case .sendTransfer(let order): await send(order)
        case .readTransfer(let transfer): await read(transfer: transfer)
        case .findTransfer(let order): await find(order)
        case .reverseTransfer(let order): await reverse(order)
        case .sendPayout(let order): await send(order)
        case .readPayout(let reference): await read(reference)
        case .findPayout(let order): await find(order)
        }
    }

    /// Returns the observation of a call that creates an object.
    ///
    /// - Parameters:
    ///   - find: Looks for the object. It is called if a retry with the same key cannot resolve the
    ///     outcome.
    ///   - result: Returns the observation of the created object.
    func creationResult<Reply>(
        _ outcome: StripeOutcome<Reply>,
        orFind find: () async -> CallResult,
        _ result: (Reply) async -> CallResult
    ) async -> CallResult {
        switch outcome {
        case .done(let reply): return await result(reply)
        case .refused(let problem): return CallResult(.refused(ProviderRefusal(.other, problem)))
        case .insufficient(let problem):
            return CallResult(.refused(ProviderRefusal(.insufficientFunds, problem)))
        case .keyReused(let problem):
            return CallResult(.refused(ProviderRefusal(.keyReused, problem)))
        case .unresolved: return await find()
        case .unknown, .throttled, .misconfigured: return CallResult(Self.unknown(outcome))
        }
    }

    /// Returns the observation of a read. If the read is refused, the object's state is unknown.
    func lookupResult<Reply>(
        _ outcome: StripeOutcome<Reply>,
        _ result: (Reply) async -> CallResult
    ) async -> CallResult {
        guard case .done(let reply) = outcome else { return CallResult(Self.unknown(outcome)) }
        return await result(reply)
    }

    /// Returns the observation of a call without a usable reply.
    static func unknown<Reply>(_ outcome: StripeOutcome<Reply>) -> Observation {
        switch outcome {
        case .unknown: .unknown(after: nil)
        case .throttled(let delay): .unknown(after: max(delay ?? .zero, throttledDelay))
        case .misconfigured: .unknown(after: misconfiguredDelay)
        case .done, .refused, .insufficient, .unresolved, .keyReused:
            .unknown(after: unreadableDelay)
        }
    }

    /// Searches a listing, newest first.
    ///
    /// - Parameters:
    ///   - pages: The maximum number of pages to read.
    ///   - page: Returns the call for the page after an object.
    ///   - isWanted: Returns true for the wanted object.
    /// - Returns: The object, or `nil` if the listing does not have it. If a page fails, the
    ///   outcome of that page. If the listing is longer than `pages`, the outcome `throttled`.
    func search<Element: StripeObject & Identified>(
        pages: Int = pageLimit,
        _ page: (_ after: String?) -> StripeCall<StripeList<Element>>,
        for isWanted: (Element) -> Bool
    ) async -> StripeOutcome<Element?> {
        var after: String?
        for _ in 0..<pages {
            let outcome = await client.send(page(after))
            guard case .done(let list) = outcome else { return outcome.then { _ in .done(nil) } }
            if let found = list.data.first(where: isWanted) { return .done(found) }
            guard list.hasMore, let last = list.data.last else { return .done(nil) }
            after = last.id
        }
        // The listing is longer than the limit, so the object may still exist.
        return .throttled(retryAfter: Self.unreadableDelay)
    }

    /// Collects a whole listing, newest first. Fails as `search` does.
    func all<Element: StripeObject & Identified>(
        pages: Int = pageLimit,
        _ page: (_ after: String?) -> StripeCall<StripeList<Element>>
    ) async -> StripeOutcome<[Element]> {
        var elements: [Element] = []
        let end = await search(pages: pages, page) { element in
            elements.append(element)
            return false
        }
        return end.then { _ in .done(elements) }
    }
}

extension CallKey {
    /// Creates an idempotency key from text of our own.
    init(ours text: String) {
        guard let key = CallKey(text) else {
            preconditionFailure("our keys are visible ASCII")
        }
        self = key
    }
}

extension ProviderRefusal {
    init(_ reason: Reason, _ problem: StripeProblem) {
        self.init(
            reason,
            code: problem.code,
            message: problem.message,
            isReplay: problem.isReplay
        )
    }
}
