internal import ArgumentParser
internal import ServiceProcess

/// How much the server takes on, and from whom it takes what.
struct LimitOptions: ParsableArguments {
    @Option(help: "How many connections may be open at once: 1 to 65536, else 14000.")
    var connections: Int?

    @Option(help: "How many commands may wait for a commit: 1 to 65536, else 8192.")
    var queue: Int?

    @Option(help: "How long to go on answering once told to stop: 0 to 60 seconds, else 0.")
    var drainSeconds: Int?

    @Option(
        help: ArgumentHelp(
            "A proxy of yours, whose X-Forwarded-For is believed. May be given several times.",
            valueName: "address"
        )
    )
    var trustedProxy: [String] = []

    @Flag(help: "Show the metrics to everybody, not to this machine only.")
    var openMetrics = false

    /// What the command line says, else the environment, else what is usual.
    var limits: ServerLimits {
        get throws {
            var limits = ServerLimits()
            limits.connections =
                try number(connections, .connections, 1...65_536) ?? limits.connections
            limits.queue = try number(queue, .queue, 1...65_536) ?? limits.queue
            limits.drain = .seconds(try number(drainSeconds, .drainSeconds, 0...60) ?? 0)
            limits.hasOpenMetrics = try openMetrics || Variable.openMetrics.isOn
            var proxies = trustedProxy
            if proxies.isEmpty {
                let listed = try Variable.trustedProxy.text ?? ""
                proxies = listed.split { $0 == "," || $0 == " " }.map(String.init)
            }
            limits.proxies = Set(
                try proxies.map { text throws(ServerFailure) in
                    guard let address = ClientAddress(text) else {
                        throw ServerFailure(
                            .configuration,
                            "--trusted-proxy takes an IP address.",
                            fix: "Name the address that the proxy connects from."
                        )
                    }
                    return address
                }
            )
            return limits
        }
    }

    private func number(
        _ given: Int?,
        _ variable: Variable,
        _ range: ClosedRange<Int>
    ) throws -> Int? {
        let form = "from \(range.lowerBound) to \(range.upperBound)"
        guard let given else {
            return try variable.value(form) { text in
                Int(text).flatMap { range.contains($0) ? $0 : nil }
            }
        }
        guard range.contains(given) else {
            throw ServerFailure(.usage, "--\(variable.option) must be \(form).")
        }
        return given
    }
}
