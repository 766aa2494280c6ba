import AsyncHTTPClient
import GotchuAPI
package import GotchuCore
import NIOCore
import NIOPosix
import NIOSSL

extension PaymentClient {
    /// The maximum length of the origin of a server's pages. A longer one makes a QR code too dense
    /// for a till. It is left out.
    private static let originLimit = 128

    /// Returns the reply with a limited length of its name. An origin that is too long is removed.
    static func bounded(_ reply: CreateSessionReply) -> CreateSessionReply {
        var reply = reply
        reply.payee = reply.payee.map { PayeeDisplay(name: $0.name.cut(to: nameLimit)) }
        let origin = reply.publicURL.flatMap { $0.utf8.count > originLimit ? nil : ServerURL($0) }
        reply.publicURL = origin?.description
        return reply
    }

    /// Classifies a reply by its status.
    ///
    /// 2xx is a success. 401 with a problem document concerns the token. 408, 429 and 5xx decide
    /// nothing. Any other 4xx with a problem document is a definite refusal. Everything else is not
    /// the payment server's own reply and decides nothing.
    static func classify(
        status: Int,
        body: [UInt8],
        retryAfter: String?,
        isReplay: Bool = false
    ) -> Answer<[UInt8]> {
        if (200..<300).contains(status) { return .success(body) }
        let wait = retryAfter.flatMap(Int.init)
            .map { Duration.seconds(min(max(0, $0), longestRetryAfter)) }
        let own = try? JSONReader.decode(WireProblem.self, body).problem(status)
        if status == 408 || status == 429 || status >= 500 {
            let code: Outage.Code =
                status == 429 ? .limited : own == nil && status >= 500 ? .failing : .busy
            return .unknown(
                Outage(
                    code,
                    retryAfter: wait,
                    serverDetail: own?.detail,
                    underlying: "HTTP \(status)"
                )
            )
        }
        guard (400..<500).contains(status), var problem = own else {
            return .unknown(Outage(.unreadable, underlying: "HTTP \(status) without a problem"))
        }
        problem.isReplay = isReplay
        return status == 401 ? .unauthorized(problem) : .refused(problem)
    }

    /// The longest `Retry-After`, in seconds. A longer one counts as this.
    private static let longestRetryAfter = 86_400
    /// The maximum length of a name or memo in a server's reply, in Unicode scalars. A longer one
    /// is cut.
    static let nameLimit = 140
    /// The maximum length of a detail text, in Unicode scalars. A longer one is cut.
    static let detailLimit = 300
    /// The maximum length of a code, in Unicode scalars.
    static let codeLimit = 64

    static func outage(of error: any Error, limit: Int = replyLimit) -> Outage {
        if error is TimedOut { return Outage(.timedOut) }
        let timeouts: [HTTPClientError] = [.connectTimeout, .readTimeout, .deadlineExceeded]
        if let error = error as? HTTPClientError, timeouts.contains(error) {
            return Outage(.timedOut, underlying: "\(error)")
        }
        if let error = error as? HTTPClientError,
            error == .invalidProxyResponse || error == .proxyAuthenticationRequired
        {
            return Outage(.refusedByProxy, underlying: "\(error)")
        }
        if let error = error as? NIOConnectionError, error.connectionErrors.isEmpty,
            error.dnsAError != nil || error.dnsAAAAError != nil
        {
            return Outage(.unknownName, underlying: "\(error)")
        }
        if error is NIOSSLError || error is NIOSSLExtraError || error is BoringSSLError {
            return Outage(.untrusted, underlying: "\(error)")
        }
        if error is NIOTooManyBytesError {
            return Outage(.unreadable, underlying: "a reply larger than \(limit) bytes")
        }
        return Outage(.unreachable, underlying: "\(error)")
    }
}

/// A problem document, also of a server with the first version of the API. Only `code` is required.
private struct WireProblem: Decodable {
    let code: String
    let detail: String?
    let error: String?
    let retryable: Bool?
    let required_cents: WireInteger?
    let available_cents: WireInteger?
    let request_id: String?

    func problem(_ status: Int) -> Problem {
        let reason = [detail, error, code].lazy.compactMap(\.self).first { !$0.isEmpty }
        var problem = Problem(
            .validationError,
            detail: (reason ?? "The payment server gives no reason.")
                .cut(to: PaymentClient.detailLimit)
        )
        problem.status = status
        problem.code = code.cut(to: PaymentClient.codeLimit)
        problem.title = Problem.reasonPhrase(of: status)
        problem.retryable = retryable
        problem.requiredCents = required_cents?.value
        problem.availableCents = available_cents?.value
        problem.requestID = request_id?.cut(to: PaymentClient.codeLimit)
        return problem
    }
}

extension String {
    /// Returns the text cut to `limit` scalars, including an ellipsis. Scalars are counted, because
    /// one `Character` can have any number of them.
    func cut(to limit: Int) -> String {
        guard unicodeScalars.dropFirst(limit).first != nil else { return self }
        return String(unicodeScalars.prefix(limit - 1)) + "…"
    }
}

extension Answer<SendOutcomeReply> {
    /// The payment's state that was looked up by its key. A 404 decides nothing: the server has
    /// made no decision, or its API version lacks this call.
    package var paymentAnswer: PaymentAnswer {
        switch self {
        case .success(let known):
            switch known.outcome {
            case .paid:
                .done(
                    Receipt(
                        newBalanceCents: known.newBalanceCents?.value,
                        transferID: known.transferID
                    )
                )
            case .declined:
                .refused(
                    Decline(
                        code: (known.code ?? "").cut(to: PaymentClient.codeLimit),
                        detail: (known.detail.flatMap { $0.isEmpty ? nil : $0 } ?? "Not paid.")
                            .cut(to: PaymentClient.detailLimit)
                    ),
                    isReplay: true
                )
            }
        case .refused: .unknown(retryAfter: nil)
        case .unauthorized(let problem): .unauthorized(Decline(problem))
        case .unknown(let outage): outage.paymentAnswer
        }
    }
}

extension Outage {
    fileprivate var paymentAnswer: PaymentAnswer {
        code == .otherUser ? .notSent(.otherLogin) : .unknown(retryAfter: retryAfter)
    }
}

extension Answer {
    /// Converts the answer to a lock, an unlock or a send.
    package func paymentAnswer(_ receipt: (Reply) -> Receipt) -> PaymentAnswer {
        switch self {
        case .success(let reply): .done(receipt(reply))
        case .refused(let problem): .refused(Decline(problem), isReplay: problem.isReplay)
        case .unauthorized(let problem): .unauthorized(Decline(problem))
        case .unknown(let outage): outage.paymentAnswer
        }
    }
}
