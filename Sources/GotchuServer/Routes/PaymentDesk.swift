internal import GotchuAPI
internal import GotchuCore
internal import HTTPTypes
internal import Hummingbird
internal import Ledger
internal import Logging
internal import NIOCore

/// Takes payments that nothing is wrong with, without a task: what `WalletRoutes.send` does, for a
/// caller who cannot wait.
///
/// Whatever else there is to say about a request is left to the router.
struct PaymentDesk: Sendable {
    /// A payment that is on its way into the books, and what its reply will need.
    struct Order: Sendable {
        fileprivate let head: HTTPRequest
        fileprivate let send: Send
        fileprivate let note: RateLimitNote
    }

    typealias Outcome = Result<Decided<SendAnswer>, LedgerError>

    let wallet: WalletRoutes
    let problems: Problems
    private let date = ReplyDate()

    init(wallet: WalletRoutes, problems: Problems) {
        self.wallet = wallet
        self.problems = problems
    }

    /// Whether it is worth waiting for the rest of a request.
    func expects(_ head: HTTPRequest) -> Bool {
        head.path == WalletRoutes.sendPath && head.method == .post
            && !head.headerFields.contains(.connection) && !head.headerFields.contains(.expect)
    }

    /// What a whole request orders; `nil` if it is for the router, which then finds it as it came.
    func order(_ head: HTTPRequest, _ body: ByteBuffer) -> Order? {
        let request = Request(head: head, body: RequestBody(buffer: body))
        guard let login = wallet.callers.tokens.knownLogin(of: request, needing: .payer),
            let key = try? request.idempotencyKey(), request.hasPlainJSONBody,
            body.readableBytes <= Request.bodyLimit,
            let fields = try? JSONFields(Array(body.readableBytesView)),
            let send = try? WalletRoutes.payment(
                SendKey(user: login.user, key: key),
                fields,
                Problems.requestID(of: request)
            )
        else { return nil }
        // Last: it is the one thing that asking costs. A refusal costs nothing.
        let note = RateLimitNote()
        let isAllowed: ()? = RateLimitNote.$current.withValue(note) {
            try? wallet.callers.limits.allowCall(by: login)
        }
        return isAllowed.map { Order(head: head, send: send, note: note) }
    }

    /// Has an order decided.
    ///
    /// - Parameter answer: Called once, from any thread.
    func place(_ order: Order, answer: @escaping @Sendable (Outcome) -> Void) {
        wallet.ledger.send(order.send, answer: answer)
    }

    /// What is replied to an order, as the router would.
    func reply(to order: Order, _ outcome: Outcome, _ logger: Logger) throws -> WholeReply {
        let requestID = order.send.requestID
        var reply: WholeReply
        do {
            reply = try WalletRoutes.reply(to: try outcome.get().accepted())
        } catch {
            let log = ServerContext.log(logger, requestID)
            reply = try Problems.reply(to: error, named: requestID, log)
        }
        Problems.name(&reply.headers, requestID, order.note)
        reply.headers[.date] = date.text
        reply.headers[.server] = Server.name
        let route = WalletRoutes.sendPath
        problems.noteAnswer(reply.status, to: order.head, on: route, requestID, logger)
        return reply
    }
}
