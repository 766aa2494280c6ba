internal import AsyncHTTPClient
internal import Dispatch
internal import FoundationEssentials
internal import GotchuCore
internal import Ledger
internal import NIOCore
internal import NIOHTTP1
internal import OutboundHTTP
internal import Outbox

/// Makes one attempt to deliver one event.
struct WebhookSender: Sendable {
    /// The timeout of an attempt: from the connection to the end of the reply's headers.
    static let limit: Duration = .seconds(15)

    let isDevelopment: Bool

    /// The result of an attempt.
    enum Answer: Equatable, Sendable {
        case accepted
        case gone
        case refused(String, retryAfter: Duration?)
    }

    func send(_ delivery: WebhookDelivery, at time: Timestamp) async -> Answer {
        do {
            guard let url = WebhookURL(delivery.url) else {
                return .refused("The URL cannot be read.", retryAfter: nil)
            }
            let target = try WebhookTarget(
                url,
                isDevelopment: isDevelopment,
                addresses: await Self.addresses(of: url.host)
            )
            return try await call(target, delivery, at: time)
        } catch let refusal as WebhookTarget.Refusal {
            return .refused(refusal.sentence, retryAfter: nil)
        } catch {
            return .refused("No answer: \(Self.reason(error)).", retryAfter: nil)
        }
    }

    /// Makes a call with a client of its own. The client knows only the checked address of the
    /// host, and follows no redirect.
    private func call(
        _ target: WebhookTarget,
        _ delivery: WebhookDelivery,
        at time: Timestamp
    ) async throws -> Answer {
        var configuration = HTTPClient.Configuration.outbound(
            connect: .seconds(5),
            read: .seconds(10)
        )
        configuration.dnsOverride = [target.url.host: target.address.text]
        configuration.connectionPool.retryConnectionEstablishment = false
        let client = HTTPClient(configuration: configuration)
        let outcome: Result<Answer, any Error>
        do {
            let request = try Self.request(target.url, delivery, at: time)
            let response = try await client.execute(
                request,
                timeout: .nanoseconds(Self.limit.wholeMilliseconds * 1_000_000)
            )
            outcome = .success(
                Self.answer(
                    Int(response.status.code),
                    retryAfter: response.headers.first(name: "Retry-After"),
                    at: time
                )
            )
        } catch {
            outcome = .failure(error)
        }
        try? await client.shutdown()
        return try outcome.get()
    }

    private static func request(
        _ url: WebhookURL,
        _ delivery: WebhookDelivery,
        at time: Timestamp
    ) throws -> HTTPClientRequest {
        let body = try WebhookBody(delivery).bytes()
        let seconds = time.milliseconds / 1_000
        let secret = WebhookSecret(bytes: delivery.secret)
        var request = HTTPClientRequest(url: url.text)
        request.method = .POST
        request.headers = HTTPHeaders([
            ("Content-Type", "application/json"),
            ("User-Agent", "gotchu-server"),
            ("webhook-id", delivery.id.event),
            ("webhook-timestamp", String(seconds)),
            (
                "webhook-signature",
                secret.signature(id: delivery.id.event, seconds: seconds, body: body)
            ),
        ])
        request.body = .bytes(ByteBuffer(bytes: body))
        return request
    }

    /// Classifies a status: 2xx means delivered, and 410 disables the endpoint. After any other
    /// status, also a redirect, the delivery is retried.
    static func answer(_ status: Int, retryAfter: String?, at time: Timestamp) -> Answer {
        switch status {
        case 200..<300: .accepted
        case 410: .gone
        default:  // SAFETY: a status is any number, and every other one means the same.
            .refused("HTTP \(status).", retryAfter: retryAfter.flatMap { wait(for: $0, at: time) })
        }
    }

    /// Parses the value of `Retry-After`: seconds or a date (RFC 9110, 10.2.3).
    private static func wait(for text: String, at time: Timestamp) -> Duration? {
        if let seconds = Int64(text) { return .seconds(max(0, seconds)) }
        return Timestamp(httpDate: text).map { max(.zero, time.duration(to: $0)) }
    }

    /// Resolves a host name on another thread, because the resolver blocks.
    private static func addresses(of host: String) async -> [NetworkAddress] {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(returning: NetworkAddress.all(of: host))
            }
        }
    }

    /// Returns a short reason that contains no text from the receiver.
    private static func reason(_ error: any Error) -> String {
        if let error = error as? HTTPClientError { return "\(error.shortDescription)" }
        return String(describing: type(of: error))
    }
}
