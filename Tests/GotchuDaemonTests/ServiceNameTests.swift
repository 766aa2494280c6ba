import Logging
import ServiceLifecycle
import ServiceProcess
import TestSupport
import Testing

@Suite("The service names in logs")
struct ServiceNameTests {
    private struct Vault: Service {
        struct Failure: Error {}
        let secret: String
        func run() async throws { throw Failure() }
    }

    @Test("A service's start and failure are logged with its type and without its fields")
    func names() async throws {
        let log = RecordedLog(level: .trace)
        let configuration = ServiceGroupConfiguration(
            services: [.init(named: Vault(secret: "sesame"))],
            logger: log.logger
        )
        await #expect(throws: Vault.Failure.self) {
            try await ServiceGroup(configuration: configuration).run()
        }
        let lines = log.lines.joined(separator: "\n")
        #expect(lines.contains("Vault") && !lines.contains("sesame"), "\(lines)")
    }
}
