import BlueZ
import BlueZRadio
import Glibc
import Logging
import Radio
import ServiceProcess

extension RadioSpecification {
    /// Creates the radio. It does nothing until it is run.
    ///
    /// - Throws: `ConfigurationError` if the recording to replay cannot be read. `DBusError` if the
    ///   process has no descriptor or thread left.
    func make(
        _ configuration: DaemonConfiguration,
        logger: Logger
    ) throws -> any Radio {
        switch self {
        case .replay(let file):
            do throws(Recording.Malformed) {
                return ReplayRadio(try Recording(path: file))
            } catch {
                throw ConfigurationError(
                    place: error.line.map { "\(file):\($0)" } ?? file,
                    problem: error.problem
                )
            }
        case .simulated(let folder, let position):
            return SimulatedRadio(folder: folder, name: "\(getpid())", position: position)
        case .bluez(let adapter, let transport):
            return try BlueZRadio(
                adapter: adapter,
                serviceUUID: UUID16(configuration.serviceUUID),
                canPowerCycle: configuration.canPowerCycle,
                transport: transport,
                readTraffic: ControllerTraffic.read,
                logger: logger
            )
        }
    }
}
