import Foundation
import Glibc
import Synchronization

/// A TCP proxy in front of a cluster. It cuts a connection at a moment that a test chooses.
package final class CuttingProxy: Sendable {
    /// The moment of a cut. All bytes that a client sends between two answers are one request.
    package enum Moment: Sendable {
        /// A number of requests pass, and the next request never reaches the server.
        case beforeRequest(skipping: Int)
        /// A number of requests pass. The next request is carried out, but its answer is lost.
        case afterRequest(skipping: Int)
    }

    private struct State {
        var moment: Moment?
        var cuts = 0
    }

    package let port: Int
    private let listener: Int32
    private let target: String
    private let state = Mutex(State())

    package init(before cluster: PostgresCluster) throws {
        target = "\(cluster.socketFolder)/.s.PGSQL.5432"
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        self.listener = listener
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                bind(listener, generic, length) | listen(listener, 16)
                    | getsockname(listener, generic, &length)
            }
        }
        guard code == 0 else { throw NSError(domain: "socket", code: Int(errno)) }
        port = Int(UInt16(bigEndian: address.sin_port))
        Thread.detachNewThread { [weak self] in
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { return }
                guard let self else {
                    close(client)
                    return
                }
                Thread.detachNewThread { self.forward(client) }
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    package func url(_ database: String) -> String {
        "postgres://\(PostgresCluster.user)@127.0.0.1:\(port)/\(database)"
    }

    /// Chooses the moment of the next cut.
    package func cut(_ moment: Moment) { state.withLock { $0.moment = moment } }

    /// The number of cuts so far.
    package var cuts: Int { state.withLock { $0.cuts } }

    private enum Verdict {
        case forward
        case dropRequest
        case dropAnswer
    }

    private func verdict() -> Verdict {
        state.withLock { state in
            let verdict: Verdict
            switch state.moment {
            case nil: return .forward
            case .beforeRequest(let skipped) where skipped > 0:
                state.moment = .beforeRequest(skipping: skipped - 1)
                return .forward
            case .afterRequest(let skipped) where skipped > 0:
                state.moment = .afterRequest(skipping: skipped - 1)
                return .forward
            case .beforeRequest: verdict = .dropRequest
            case .afterRequest: verdict = .dropAnswer
            }
            state.moment = nil
            state.cuts += 1
            return verdict
        }
    }

    private func forward(_ client: Int32) {
        let server = Self.connect(to: target)
        defer {
            close(client)
            close(server)
        }
        guard server >= 0 else { return }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        var isAnswered = true
        var dropsAnswer = false
        while true {
            var events = [
                pollfd(fd: client, events: Int16(POLLIN), revents: 0),
                pollfd(fd: server, events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&events, 2, -1) >= 0 else { return }
            if events[0].revents != 0 {
                let count = read(client, &buffer, buffer.count)
                guard count > 0 else { return }
                if isAnswered {
                    isAnswered = false
                    switch verdict() {
                    case .forward: break
                    case .dropRequest: return
                    case .dropAnswer: dropsAnswer = true
                    }
                }
                guard write(server, buffer, count) == count else { return }
            }
            if events[1].revents != 0 {
                let count = read(server, &buffer, buffer.count)
                // The server answers a request as a whole, after carrying it out.
                guard count > 0, !dropsAnswer else { return }
                isAnswered = true
                guard write(client, buffer, count) == count else { return }
            }
        }
    }

    private static func connect(to path: String) -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        return code == 0 ? descriptor : -1
    }
}
