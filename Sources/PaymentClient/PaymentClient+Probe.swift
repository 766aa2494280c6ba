import AsyncHTTPClient
import GotchuCore
import NIOCore
import NIOHTTP1

extension PaymentClient {
    /// Looks once, carefully, whether the server is there and what time it is there.
    package func probe() async -> Probe {
        let prepared = request(.GET, Self.healthPath, access: .none)
        let start = ContinuousClock.now
        do {
            return try await withTimeout(Self.callLimit) {
                let response = try await http.execute(
                    prepared,
                    timeout: .nanoseconds(Self.callLimit.wholeMilliseconds * 1_000_000)
                )
                let latency = start.duration(to: .now)
                let lead = response.headers.first(name: "Date")
                    .flatMap(Timestamp.init(httpDate:))
                    // The server's clock was read half-way, and tells whole seconds, rounded down.
                    .map { $0.advanced(by: latency / 2 + .milliseconds(500)).duration(to: .now) }
                return Probe(outage: nil, latency: latency, clockLead: lead)
            }
        } catch {
            return Probe(outage: Self.outage(of: error), latency: nil, clockLead: nil)
        }
    }

    /// What a look at the server found.
    package struct Probe: Sendable {
        /// Why there was no answer, if there was none.
        package let outage: Outage?
        package let latency: Duration?
        /// By how much this machine's clock is ahead of the server's, within half a second.
        package let clockLead: Duration?
    }
}
