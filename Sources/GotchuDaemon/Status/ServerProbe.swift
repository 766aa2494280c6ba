import ArgumentParser
import AsyncHTTPClient
import FoundationEssentials
import GotchuAPI
import GotchuCore
import PaymentClient
import ServiceProcess

/// `gotchud --check-server`: probes the payment server with the daemon's settings, but runs no
/// daemon.
struct ServerProbe {
    let route: ServerRoute
    /// The HTTP settings of the route.
    let http: HTTPClient.Configuration

    /// Prints a `ServerProbeReply`. If the server does not answer, the exit code is 75.
    func run() async throws {
        let http = HTTPClient(configuration: http)
        let client = PaymentClient(server: route.server, http: http)
        let probe = await client.probe()
        try? await http.shutdown()
        let reply = ServerProbeReply(
            url: route.server.description,
            isReachable: probe.outage == nil,
            latencyMilliseconds: probe.latency.map { Int($0.wholeMilliseconds) },
            clockLeadMilliseconds: probe.clockLead.map { Int($0.wholeMilliseconds) },
            problem: probe.outage.map { HealthItem.server(route, $0) }
        )
        Console.output(String(decoding: CanonicalJSON.bytes(of: reply), as: UTF8.self))
        guard reply.isReachable else { throw ExitCode(ExitStatus.tryAgain.rawValue) }
    }
}
