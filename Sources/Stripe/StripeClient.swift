package import AsyncHTTPClient
import GotchuCore
import NIOCore
import NIOHTTP1
import OutboundHTTP

/// Stripe's API, version 1.
///
/// Each call is sent once: its caller decides about a retry, because only the caller has recorded
/// the key. No call throws. Safe to use from any number of tasks.
package struct StripeClient: Sendable {
    /// The version of the API whose replies are parsed. Webhook endpoints have their own version,
    /// so only the ids of an event are read.
    package static let version = "2026-05-27.dahlia"
    package static let address = "https://api.stripe.com"
    /// The default timeout of a call, from connecting to the last byte.
    package static let defaultTimeout: Duration = .seconds(30)
    /// The largest accepted reply, in bytes: enough for a page of a hundred events.
    static let replyLimit = 4 * 1024 * 1024

    private let address: String
    private let secret: StripeSecretKey
    private let http: HTTPClient
    private let rateLimiter: CallRateLimiter
    private let limit: Duration
    private let onOutcome: @Sendable (StripeCallReport) -> Void

    /// - Parameters:
    ///   - address: An origin, without a trailing slash.
    ///   - http: A client with `httpConfiguration`; the caller shuts it down.
    ///   - limit: The timeout of a call.
    ///   - onOutcome: Called after each call, also one that was not made, by the task that made it.
    package init(
        address: String = StripeClient.address,
        secret: StripeSecretKey,
        http: HTTPClient,
        limit: Duration = StripeClient.defaultTimeout,
        onOutcome: @escaping @Sendable (StripeCallReport) -> Void = { _ in }
    ) {
        self.address = address
        self.secret = secret
        self.http = http
        self.limit = limit
        self.onOutcome = onOutcome
        rateLimiter = CallRateLimiter()
    }

    /// The settings of the HTTP client: no redirects, a single HTTP version, and no reply can end
    /// the process.
    package static var httpConfiguration: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration.outbound(
            connect: .seconds(5),
            read: .seconds(30)
        )
        configuration.connectionPool.retryConnectionEstablishment = false
        return configuration
    }

    /// Makes a call, after a wait if too many were made just before. If the wait would be too long
    /// or the task is cancelled, the call is not made and its outcome is `throttled`.
    package func send<Reply>(_ call: StripeCall<Reply>) async -> StripeOutcome<Reply> {
        let start = MonotonicTime.now
        let isMade = await rateLimiter.wait(for: call.endpoint)
        let (raw, isReplay): (StripeOutcome<[UInt8]>, Bool) =
            isMade ? await exchange(request(call)) : (.throttled(retryAfter: nil), false)
        let outcome: StripeOutcome<Reply> = raw.then { body in
            Self.decode(body).map { .done($0) } ?? .unknown(StripeFault(.unreadable, status: 200))
        }
        onOutcome(
            StripeCallReport(
                call: call.name,
                outcome: outcome.kind,
                failure: outcome.failure,
                isAnswer: isMade ? outcome.isAnswer : nil,
                isReplay: isReplay,
                time: .now - start
            )
        )
        return outcome
    }

    /// Parses a reply of the expected type. A payer's name in it may be anything.
    static func decode<Reply: StripeObject>(_ body: [UInt8]) -> Reply? {
        guard let kind = try? JSONReader.decode(Kind.self, body, checksText: false),
            kind.object == Reply.kind
        else { return nil }
        return try? JSONReader.decode(Reply.self, body, checksText: false)
    }

    private struct Kind: Decodable {
        let object: String
    }

    private func request<Reply>(_ call: StripeCall<Reply>) -> HTTPClientRequest {
        let text = call.form.text
        let query = call.method == .get && !text.isEmpty ? "?" + text : ""
        var request = HTTPClientRequest(url: address + call.path + query)
        request.method = HTTPMethod(rawValue: call.method.rawValue)
        request.headers = [
            "Authorization": "Bearer \(secret.text)", "Stripe-Version": Self.version,
            "User-Agent": "gotchu-server", "Accept": "application/json",
        ]
        if let account = call.account {
            request.headers.add(name: "Stripe-Account", value: account)
        }
        if let key = call.key {
            request.headers.add(name: "Idempotency-Key", value: key.text)
        }
        if call.method == .post {
            request.headers.add(
                name: "Content-Type",
                value: "application/x-www-form-urlencoded"
            )
            request.body = .bytes(ByteBuffer(string: text))
        }
        return request
    }

    private func exchange(
        _ request: HTTPClientRequest
    ) async -> (outcome: StripeOutcome<[UInt8]>, isReplay: Bool) {
        do {
            return try await withTimeout(limit) { [http, limit] in
                let response = try await http.execute(
                    request,
                    timeout: .nanoseconds(limit.wholeMilliseconds * 1_000_000)
                )
                let body = try await response.body.collect(upTo: Self.replyLimit)
                let headers = response.headers
                let seconds = headers.first(name: "Retry-After").flatMap(UInt32.init)
                let reply = RawReply(
                    status: Int(response.status.code),
                    body: [UInt8](buffer: body),
                    shouldRetry: headers.first(name: "Stripe-Should-Retry").map { $0 == "true" },
                    isReplay: headers.first(name: "Idempotent-Replayed") == "true",
                    retryAfter: seconds.map { .seconds(Int64($0)) }
                )
                return (reply.outcome, reply.isReplay)
            }
        } catch {
            return (.unknown(StripeFault(Self.reason(error))), false)
        }
    }

    /// Returns the reason for a failure, without any data from the other side.
    private static func reason(_ error: any Error) -> StripeFault.Reason {
        if error is TimedOut { return .timedOut }
        if error is NIOTooManyBytesError { return .tooLarge }
        if let error = error as? HTTPClientError {
            let timeouts: [HTTPClientError] = [.connectTimeout, .readTimeout, .deadlineExceeded]
            return timeouts.contains(error) ? .timedOut : .unreadable
        }
        let name = String(reflecting: type(of: error))
        return name.contains("SSL") ? .untrusted : .unreachable
    }
}

/// One call, for metrics and the log.
package struct StripeCallReport: Sendable {
    package let call: String
    package let outcome: StripeOutcomeKind
    /// The reason why the call was not done; `nil` if it was done or throttled.
    package let failure: (any Error)?
    /// A Boolean that is true if Stripe itself answered; `nil` if the call was not made.
    package let isAnswer: Bool?
    /// A Boolean that is true if the answer is a replay of an earlier attempt's answer.
    package let isReplay: Bool
    package let time: Duration
}
