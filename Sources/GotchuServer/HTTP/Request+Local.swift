internal import Hummingbird

extension Request {
    /// Returns true if a program on this machine sent the request. The client's address must be a
    /// loopback address, no proxy has forwarded the request, and its host, if any, is a loopback
    /// name or address. The check of the host excludes web pages whose host name was made to
    /// resolve to a loopback address (DNS rebinding).
    func isLocal(_ context: ServerContext) -> Bool {
        let isPassedOn = [.forwarded, .forwardedFor, .realIP].contains { headers[$0] != nil }
        let host = head.authority.map { $0.lowercased() }
            .map { ListenAddress($0) ?? ListenAddress("\($0):0") }
        return context.client.isLoopback && !isPassedOn
            && host.map { $0?.isLoopback == true } ?? true
    }
}
