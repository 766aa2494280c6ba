/// A datagram on the simulated air: the sender's position, and service data.
struct SimulatedAdvertisement {
    let position: AirPosition
    let serviceData: [UInt8]

    init(from position: AirPosition, _ serviceData: [UInt8]) {
        self.position = position
        self.serviceData = serviceData
    }

    /// Parses a datagram: x and y as little-endian IEEE 754 doubles, then the service data.
    init?(_ datagram: [UInt8]) {
        guard datagram.count >= 16 else { return nil }
        let coordinates = [0, 8].map { start in
            Double(
                bitPattern: datagram[start..<start + 8].reversed().reduce(0) {
                    $0 << 8 | UInt64($1)
                }
            )
        }
        guard let position = AirPosition(checkedX: coordinates[0], y: coordinates[1]) else {
            return nil
        }
        self.position = position
        serviceData = Array(datagram[16...])
    }

    var datagram: [UInt8] {
        [position.x, position.y].flatMap { coordinate in
            (0..<8).map { UInt8(truncatingIfNeeded: coordinate.bitPattern >> (8 * $0)) }
        } + serviceData
    }
}
