import AsyncHTTPClient
import FoundationEssentials
import GotchuAPI
package import GotchuCore
import NIOCore
import NIOPosix
import NIOSSL

extension PaymentClient {
    /// The longest origin of a server's pages: a longer one makes a QR code too dense for a till.
    private static let originLimit = 128

    /// Returns the reply with its name and origin limited in length.
    static func bounded(_ reply: CreateSessionReply) -> CreateSessionReply {
        var reply = reply
        reply.payee = reply.payee.map { PayeeDisplay(name: $0.name.cut(to: nameLimit)) }
        let origin = reply.publicURL.flatMap { $0.utf8.count > originLimit ? nil : ServerURL($0) }
        reply.publicURL = origin?.description
        return reply
    }

    /// Classifies a reply.
    ///
    /// 2xx is success; a problem document with any other 4xx is a definite refusal; 401 concerns
    /// the token; 408, 429, 5xx and anything that is not the payment server's own reply decide
    /// nothing.
    static func classify(
        status: Int,
        body: [UInt8],
        retryAfter: String?,
        isReplay: Bool = false
    ) -> Answer<[UInt8]> {
        if (200..<300).contains(status) { return .success(body) }
        let wait = retryAfter.flatMap(Int.init).map { Duration.seconds(max(0, $0)) }
        let own = try? JSONDecoder().decode(WireProblem.self, from: Data(body)).problem(status)
        if status == 408 || status == 429 || status >= 500 {
            let code: Outage.Code = own == nil && status >= 500 ? .failing : .busy
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

    /// The longest name or memo that is kept of a server's reply, in Unicode scalars: the limit of
    /// a memo.
    static let nameLimit = 140
    /// The longest detail text that is kept and shown, in Unicode scalars.
    static let detailLimit = 300
    /// The longest code, in Unicode scalars.
    static let codeLimit = 64

    /// The header of a reply that the server stored under the call's key and now repeats.
    static let replayHeader = "Idempotent-Replayed"

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

/// A problem document of any server with the first API version: only `code` is required.
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
    /// Returns the text cut to `limit` scalars, with an ellipsis. Scalars are counted, because one
    /// `Character` may have any number of them.
    func cut(to limit: Int) -> String {
        guard unicodeScalars.dropFirst(limit).first != nil else { return self }
        return String(unicodeScalars.prefix(limit - 1)) + "…"
    }
}

extension Answer<SendOutcomeReply> {
    /// The payment's state, looked up by its key. A 404 decides nothing: the server has made no
    /// decision, or has the first contract, which lacks this call.
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
        case .unauthorized(let problem):
            .unauthorized(Decline(code: problem.code, detail: problem.detail))
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
    /// Converts the answer to a lock or a send to the answer of the payment.
    package func paymentAnswer(_ receipt: (Reply) -> Receipt) -> PaymentAnswer {
        switch self {
        case .success(let reply): .done(receipt(reply))
        case .refused(let problem):
            .refused(
                Decline(code: problem.code, detail: problem.detail),
                isReplay: problem.isReplay
            )
        case .unauthorized(let problem):
            .unauthorized(Decline(code: problem.code, detail: problem.detail))
        case .unknown(let outage): outage.paymentAnswer
        }
    }
}
