internal import Hummingbird

extension Request {
    /// A Boolean that is true if a program of this machine sent it: no proxy says that it passed it
    /// on, and it names no other host, as a browser's page does whose own name was made to stand
    /// for a loopback address.
    func isLocal(_ context: ServerContext) -> Bool {
        let isPassedOn = [.forwarded, .forwardedFor, .realIP].contains { headers[$0] != nil }
        let host = head.authority.map { $0.lowercased() }
            .map { ListenAddress($0) ?? ListenAddress("\($0):0") }
        return context.client.isLoopback && !isPassedOn
            && host.map { $0?.isLoopback == true } ?? true
    }
}
