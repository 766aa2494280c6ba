import FoundationEssentials
package import GotchuCore
import Synchronization

/// A radio on a simulated air: a folder in which radios send each other datagrams.
///
/// Distances mean something: each radio has a position, and the level of what it hears follows from
/// the distance. Writing `X,Y` to `FOLDER/NAME.position` moves the radio. For demonstrations,
/// development and tests on machines without Bluetooth.
package final class SimulatedRadio: Radio {
    /// The interval at which a radio advertises each EID; each time up to 10 ms are added, as the
    /// Core Specification's advDelay (Vol 6 Part B 4.4.2.2.1).
    static let advertisingInterval: Duration = .milliseconds(100)
    /// The interval at which a radio reads what has arrived.
    static let pollInterval: Duration = .milliseconds(20)

    /// The number of EIDs that one radio has on the air: as many as the kernel allows most
    /// controllers.
    package static let advertisingLimit = 5

    package let name = "simulated"
    package let events = RadioEvents()

    private let folder: String
    private let ownName: String
    private let noise: Double
    private let shared: Mutex<Shared>

    private struct Shared {
        var position: AirPosition
        var state = RadioState()
    }

    /// - Parameters:
    ///   - folder: The air.
    ///   - name: This radio's name on it, unique there.
    ///   - position: Its place, in metres, until its position file says otherwise.
    ///   - noise: The standard deviation of a measured level, in dB.
    package init(folder: String, name: String, position: AirPosition, noise: Double = 1.5) {
        self.folder = folder
        self.noise = noise
        ownName = name
        shared = Mutex(Shared(position: position))
        shared.withLock { $0.state.advertisingCapacity = Self.advertisingLimit }
    }

    package func setListening(_ isWanted: Bool) async {
        update { $0.isListeningWanted = isWanted }
    }

    package func startAdvertising(_ eid: EID) async throws(RadioFailure) {
        let hasRoom = shared.withLock { shared in
            shared.state.advertising.contains(eid)
                || shared.state.advertising.count < Self.advertisingLimit
        }
        guard hasRoom else { throw RadioFailure(.tooManyAdvertisements) }
        update { $0.advertising.insert(eid) }
    }

    package func stopAdvertising(_ eid: EID) async {
        update { $0.advertising.remove(eid) }
    }

    package func run() async throws {
        let socket = try AirSocket(folder: folder, name: ownName)
        var loss = PathLoss(noise: noise, seed: ownName.utf8.reduce(14) { $0 &* 31 &+ UInt64($1) })
        var dueAt: [EID: MonotonicTime] = [:]
        update { $0.adapter = name }
        while !Task.isCancelledOrShuttingDown {
            readPosition()
            update { $0.isScanning = $0.isListeningWanted }
            let now = MonotonicTime.now
            let (position, state) = shared.withLock { ($0.position, $0.state) }
            let advertised = state.advertising
            dueAt = dueAt.filter { advertised.contains($0.key) }
            for eid in advertised where dueAt[eid].map({ $0 <= now }) ?? true {
                socket.broadcast(SimulatedAdvertisement(from: position, eid.serviceData).datagram)
                dueAt[eid] =
                    now + Self.advertisingInterval + .microseconds(Int.random(in: 0..<10_000))
            }
            while let datagram = socket.receive() {
                if state.isScanning { hear(datagram, at: position, &loss) }
            }
            try? await Task.sleep(for: Self.pollInterval)
        }
        update { $0.isScanning = false }
    }

    private func hear(_ datagram: [UInt8], at position: AirPosition, _ loss: inout PathLoss) {
        // A sender too far away to have a level is not heard, as in life.
        guard let advertisement = SimulatedAdvertisement(datagram),
            let rssi = loss.rssi(atDistance: position.distance(to: advertisement.position))
        else { return }
        switch HeardAdvertisement(serviceData: advertisement.serviceData).recognise() {
        case .ours(let eid, let carrier):
            let sighting = Sighting(
                time: .now,
                eid: eid,
                carrier: carrier,
                rssi: rssi,
                adapter: name
            )
            events.tell(.heard(sighting))
        case .stranger(let reason):
            events.tell(.ignored(reason))
        }
    }

    private func readPosition() {
        guard let data = FileManager.default.contents(atPath: "\(folder)/\(ownName).position"),
            let text = String(data: data, encoding: .utf8),
            let position = AirPosition(text.filter { !$0.isWhitespace })
        else { return }
        shared.withLock { $0.position = position }
    }

    private func update(_ change: (inout RadioState) -> Void) {
        let new = shared.withLock { shared -> RadioState? in
            let old = shared.state
            change(&shared.state)
            return shared.state == old ? nil : shared.state
        }
        if let new { events.tell(.stateChanged(new)) }
    }
}
