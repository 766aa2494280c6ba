import AsyncHTTPClient
import GotchuCore
import NIOCore
import NIOHTTP1

extension PaymentClient {
    /// Checks once if the server works. Reads its clock.
    package func probe() async -> Probe {
        let start = ContinuousClock.now
        let answer = await ping()
        let latency = start.duration(to: .now)
        if case .unknown(let outage) = answer {
            return Probe(outage: outage, latency: nil, clockLead: nil)
        }
        return Probe(outage: nil, latency: latency, clockLead: await clockLead())
    }

    /// Returns the time by which this machine's clock is ahead of the server's; `nil` if it is not
    /// known.
    private func clockLead() async -> Duration? {
        let start = ContinuousClock.now
        let response = try? await http.execute(
            request(.GET, Self.readyPath, access: .none),
            timeout: .nanoseconds(Self.callLimit.wholeMilliseconds * 1_000_000)
        )
        let latency = start.duration(to: .now)
        return response?.headers.first(name: "Date")
            .flatMap(Timestamp.init(httpDate:))
            // The server is assumed to have read its clock half-way through the call. Its seconds
            // are rounded down, by half a second on average.
            .map { $0.advanced(by: latency / 2 + .milliseconds(500)).duration(to: .now) }
    }

    /// The result of a probe of the server.
    package struct Probe: Sendable {
        /// The reason why the server does not work or its condition is not known; `nil` if it
        /// works.
        package let outage: Outage?
        package let latency: Duration?
        /// The time by which this machine's clock is ahead of the server's, accurate to half a
        /// second.
        package let clockLead: Duration?
    }
}
