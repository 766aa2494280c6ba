internal import Funding
internal import GotchuCore
internal import Ledger
internal import Stripe

/// The provider of deposits and payouts: makes the calls that `Funding` decides on at Stripe, and
/// returns the observations. It decides nothing and stores nothing.
struct StripeProvider: Sendable {
    /// The delay after a call that failed because of our configuration: one try a minute.
    static let misconfiguredDelay: Duration = .seconds(60)
    /// The delay after a reply to a read that cannot be interpreted.
    static let unreadableDelay: Duration = .seconds(900)
    /// The delay after a rate limit, unless Stripe sets a longer one.
    static let throttledDelay: Duration = .seconds(5)
    /// The most pages of a listing that are searched.
    private static let pageLimit = 200
    /// The most pages when a whole listing is read.
    static let fullListPageLimit = 100_000
    /// The clock difference to Stripe that a listing allows for.
    static let clockDifference: Duration = .seconds(900)

    let client: StripeClient
    /// The server's address for browsers, to which Stripe's pages lead back.
    let site: PublicURL

    /// A call's result: the observation, and the secret for the payer only.
    struct CallResult: Sendable {
        let observation: Observation
        /// The client secret of a payment or the address of a checkout. Never stored, never logged.
        var secret: String?

        init(_ observation: Observation, secret: String? = nil) {
            self.observation = observation
            self.secret = secret
        }
    }

    /// Makes a call and returns its result.
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
    ///   - find: Looks for the object if a retry with the key cannot resolve the outcome.
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

    /// Returns the observation of a read. A refused read says nothing about the object, so its
    /// outcome is unknown.
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

    /// Searches a whole listing, newest first.
    ///
    /// - Parameters:
    ///   - pages: The most pages to read.
    ///   - page: Returns the call for the page after an object.
    ///   - isWanted: Returns true for the object searched for.
    /// - Returns: The object, `nil` if there is none, or the outcome of the page that failed.
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
        // The listing is longer than the limit, so the object cannot be said to be absent.
        return .throttled(retryAfter: Self.unreadableDelay)
    }

    /// Collects a whole list, newest first.
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
    /// Creates an idempotency key from one of our own, which are short ASCII.
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
