import BlueZ
import Glibc
import Logging
import Radio

extension RadioSpecification {
    /// The radio that was asked for. It does nothing before it is run.
    func make(_ configuration: DaemonConfiguration, logger: Logger) -> any Radio {
        switch self {
        case .simulated(let folder, let position):
            SimulatedRadio(folder: folder, name: "\(getpid())", position: position)
        case .bluez(let adapter, let transport):
            BlueZRadio(
                adapter: adapter,
                serviceUUID: UUID16(configuration.serviceUUID),
                canPowerCycle: configuration.canPowerCycle,
                transport: transport,
                logger: logger
            )
        }
    }
}
