import FoundationEssentials
import Glibc
import GotchuAPI
import GotchuCore
import NIOCore
import NIOHTTP1
import NIOPosix

extension LocalClient {
    /// The maximum size of a reply in bytes: that of the largest document that the daemon passes
    /// on. Its own lists are much smaller.
    private static let replyLimit = SettlementReply.limit

    typealias Connection = NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart>
    typealias Parts = NIOAsyncChannelInboundStream<HTTPClientResponsePart>.AsyncIterator

    func call<Reply: Decodable>(
        _ method: HTTPMethod,
        _ path: String,
        limit: Duration = promptLimit
    ) async throws -> Reply {
        try await call(method, path, bytes: nil, key: nil, limit: limit)
    }

    func call<Reply: Decodable>(
        _ method: HTTPMethod,
        _ path: String,
        body: some Encodable,
        key: IdempotencyKey? = nil,
        limit: Duration = serverBoundLimit
    ) async throws -> Reply {
        let bytes = try [UInt8](JSONEncoder().encode(body))
        return try await call(method, path, bytes: bytes, key: key, limit: limit)
    }

    private func call<Reply: Decodable>(
        _ method: HTTPMethod,
        _ path: String,
        bytes: [UInt8]?,
        key: IdempotencyKey?,
        limit: Duration
    ) async throws -> Reply {
        let headers = key.map { [(IdempotencyHeader.key, $0.rawValue)] } ?? []
        let body = try await withReply(
            method,
            path,
            bytes: bytes,
            headers: headers,
            limit: limit
        ) { _, parts, deadline in
            defer { deadline.cancel() }
            return try await Self.readBody(&parts)
        }
        return try Self.decode(body)
    }

    static func decode<Value: Decodable>(_ body: Data) throws -> Value {
        do {
            return try JSONReader.decode(Value.self, [UInt8](body))
        } catch {
            throw LocalClientFailure.unreadableReply(underlying: String(describing: error))
        }
    }

    /// Sends one request. If the reply's head is a success, passes the rest of the reply to `body`.
    ///
    /// After `limit`, the connection is closed and the call fails as timed out. `body` can cancel
    /// this deadline.
    func withReply<Result: Sendable>(
        _ method: HTTPMethod,
        _ path: String,
        bytes: [UInt8]?,
        headers: [(String, String)] = [],
        limit: Duration,
        _ body: (HTTPResponseHead, inout Parts, Scheduled<Void>) async throws -> Result
    ) async throws -> Result {
        let end = ContinuousClock.now + limit
        do {
            let connection = try await connect(limit: limit)
            let channel = connection.channel
            let deadline = channel.eventLoop.scheduleTask(in: TimeAmount(limit)) {
                channel.close(promise: nil)
            }
            return try await connection.executeThenClose { inbound, outbound in
                try await requireTrustedListener(channel)
                try await outbound.write(
                    contentsOf: requestParts(method, path, bytes, headers)
                )
                var parts = inbound.makeAsyncIterator()
                let head = try await acceptHead(&parts)
                return try await body(head, &parts, deadline)
            }
        } catch let error as CancellationError {
            throw error
        } catch {
            let failure = LocalClientFailure(transport: error, path: socketPath)
            if failure == .connectionLost, ContinuousClock.now >= end {
                throw LocalClientFailure.timedOut(after: limit)
            }
            throw failure
        }
    }

    /// Connects. Retries while the listener's backlog is full: other users may have filled it.
    private func connect(limit: Duration) async throws -> Connection {
        let end = ContinuousClock.now + limit
        while true {
            do {
                return try await connectOnce(limit: limit)
            } catch let error as IOError where error.errnoCode == EAGAIN {
                guard ContinuousClock.now < end else {
                    throw LocalClientFailure.timedOut(after: limit)
                }
                // No event reports free space in the backlog. Retry until the call's limit.
                try await Task.sleep(for: Self.backlogRetryInterval)
            }
        }
    }

    private static let backlogRetryInterval: Duration = .milliseconds(10)

    private func connectOnce(limit: Duration) async throws -> Connection {
        try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connectTimeout(TimeAmount(limit))
            .connect(unixDomainSocketPath: socketPath) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHTTPClientHandlers()
                    return try Connection(wrappingChannelSynchronously: channel)
                }
            }
    }

    /// Throws if the listener's user is neither root, nor this user, nor the folder's owner.
    /// Another user could store a token, or report a payment that was not made.
    private func requireTrustedListener(_ channel: any Channel) async throws {
        guard let listener = try await Peer.query(of: channel)?.get()?.userID else { return }
        let folder = socketPath.lastIndex(of: "/").map { String(socketPath[...$0]) } ?? "."
        var place = stat()
        let isFound = stat(folder, &place) == 0
        guard [0, geteuid()].contains(listener) || isFound && listener == place.st_uid else {
            throw LocalClientFailure.foreignListener(path: socketPath, userID: listener)
        }
    }

    private func requestParts(
        _ method: HTTPMethod,
        _ path: String,
        _ bytes: [UInt8]?,
        _ more: [(String, String)]
    ) -> [HTTPClientRequestPart] {
        var headers: HTTPHeaders = [
            "Host": "gotchu",
            "Connection": "close",
            "User-Agent": "gotchu-ctl/\(GotchuVersion.current)",
        ]
        headers.add(contentsOf: more)
        if let bytes {
            headers.add(name: "Content-Type", value: "application/json")
            headers.add(name: "Content-Length", value: String(bytes.count))
        }
        let head = HTTPRequestHead(version: .http1_1, method: method, uri: path, headers: headers)
        let body = bytes.map { [HTTPClientRequestPart.body(.byteBuffer(ByteBuffer(bytes: $0)))] }
        return [.head(head)] + (body ?? []) + [.end(nil)]
    }

    /// Reads the reply's head. Throws if the API version differs, or if the reply is a problem.
    private func acceptHead(_ parts: inout Parts) async throws -> HTTPResponseHead {
        guard case .head(let head) = try await parts.next(isolation: #isolation) else {
            throw LocalClientFailure.connectionLost
        }
        let theirs = head.headers.first(name: LocalAPIVersion.header)?.maskingNonASCII
        guard theirs == LocalAPIVersion.current else {
            throw LocalClientFailure.apiMismatch(theirs: theirs)
        }
        if let version = head.headers.first(name: LocalAPIVersion.programHeader) {
            versionHeard(version.maskingNonASCII)
        }
        if (200..<300).contains(head.status.code) || head.status == .notModified { return head }
        let body = try await Self.readBody(&parts)
        guard let problem = try? JSONReader.decode(Problem.self, [UInt8](body)) else {
            let status = head.status.code
            throw LocalClientFailure.unreadableReply(underlying: "status \(status), no problem")
        }
        throw LocalClientFailure.problem(problem)
    }

    static func readBody(_ parts: inout Parts) async throws -> Data {
        var body = Data()
        while let part = try await parts.next(isolation: #isolation) {
            switch part {
            case .head: continue
            case .body(let buffer): body.append(contentsOf: buffer.readableBytesView)
            case .end: return body
            }
            guard body.count <= replyLimit else {
                throw LocalClientFailure.unreadableReply(underlying: "over \(replyLimit) bytes")
            }
        }
        throw LocalClientFailure.connectionLost
    }
}
