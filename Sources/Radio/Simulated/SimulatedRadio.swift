import FoundationEssentials
import Glibc
package import GotchuCore
import Synchronization

/// A radio on a simulated air: a folder in which radios send each other datagrams.
///
/// Each radio has a position, and the level of what it hears follows from the distance. Writing
/// `X,Y` to `FOLDER/NAME.position` moves the radio, and its adapter is off while there is a file
/// `FOLDER/NAME.off`. For demonstrations, development and tests on machines without Bluetooth.
package final class SimulatedRadio: Radio {
    /// The interval at which a radio advertises each EID; a random delay of up to 10 ms is added
    /// each time, like the Core Specification's advDelay (Vol 6 Part B 4.4.2.2.1).
    static let advertisingInterval: Duration = .milliseconds(100)
    /// The interval at which a radio reads received datagrams.
    static let pollInterval: Duration = .milliseconds(20)

    /// The number of EIDs that one radio can have on the air: as many as the kernel permits for
    /// most controllers.
    package static let advertisingLimit = 5

    package let name = "simulated"

    private let folder: String
    private let ownName: String
    private let noise: Double
    private let start: AirPosition
    private let state: Mutex<RadioState>

    /// - Parameters:
    ///   - folder: The folder that is the air.
    ///   - name: This radio's name in the folder, unique there.
    ///   - position: Its position, in metres, until its position file has another.
    ///   - noise: The standard deviation of a measured level, in dB.
    package init(folder: String, name: String, position: AirPosition, noise: Double = 1.5) {
        self.folder = folder
        self.noise = noise
        ownName = name
        start = position
        var state = RadioState(adapter: "simulated")
        state.advertisingCapacity = Self.advertisingLimit
        self.state = Mutex(state)
    }

    package func setListening(_ isWanted: Bool) async {
        state.withLock { $0.isListeningWanted = isWanted }
    }

    package func startAdvertising(_ eid: EID) async throws(RadioFailure) {
        guard !isOff else { throw RadioFailure(.adapterOff) }
        let hasRoom = state.withLock { state in
            let hasRoom = state.advertising.count < Self.advertisingLimit
            if hasRoom { state.advertising.insert(eid) }
            return hasRoom || state.advertising.contains(eid)
        }
        guard hasRoom else { throw RadioFailure(.tooManyAdvertisements) }
    }

    package func stopAdvertising(_ eid: EID) async {
        _ = state.withLock { $0.advertising.remove(eid) }
    }

    package func run(onEvent: @escaping RadioListener) async throws {
        let socket = try AirSocket(folder: folder, name: ownName)
        var loss = PathLoss(noise: noise, seed: ownName.utf8.reduce(14) { $0 &* 31 &+ UInt64($1) })
        var dueAt: [EID: MonotonicTime] = [:]
        var position = start
        var last: RadioState?
        /// Sends the state if it has changed.
        func sendState(isRunning: Bool) -> RadioState {
            var new = state.withLock(\.self)
            new.isScanning = isRunning && new.isListeningWanted
            if isOff {
                new.isScanning = false
                new.advertising = []
                new.problem = RadioFailure(.adapterOff)
            }
            if new != last { onEvent(.stateChanged(new)) }
            last = new
            return new
        }
        while !Task.isCancelledOrShuttingDown {
            position = filedPosition ?? position
            let now = MonotonicTime.now
            let state = sendState(isRunning: true)
            let advertised = state.advertising
            dueAt = dueAt.filter { advertised.contains($0.key) }
            for eid in advertised where dueAt[eid].map({ $0 <= now }) ?? true {
                socket.broadcast(SimulatedAdvertisement(from: position, eid.serviceData).datagram)
                dueAt[eid] =
                    now + Self.advertisingInterval + .microseconds(Int.random(in: 0..<10_000))
            }
            while let datagram = socket.receive() {
                guard state.isScanning, let event = event(datagram, at: position, &loss)
                else { continue }
                onEvent(event)
            }
            try? await Task.sleep(for: Self.pollInterval)
        }
        _ = sendState(isRunning: false)
    }

    private func event(
        _ datagram: [UInt8],
        at position: AirPosition,
        _ loss: inout PathLoss
    ) -> RadioEvent? {
        // A sender too far away to have a level is not heard, as with real radios.
        guard let advertisement = SimulatedAdvertisement(datagram),
            let rssi = loss.rssi(atDistance: position.distance(to: advertisement.position))
        else { return nil }
        switch HeardAdvertisement(serviceData: advertisement.serviceData).recognise() {
        case .ours(let eid, let carrier):
            return .heard(
                Sighting(time: .now, eid: eid, carrier: carrier, rssi: rssi, adapter: name)
            )
        case .ignored(let reason): return .ignored(reason)
        }
    }

    private var isOff: Bool { access("\(folder)/\(ownName).off", F_OK) == 0 }

    /// The position in this radio's file; `nil` if there is none.
    private var filedPosition: AirPosition? {
        guard let data = FileManager.default.contents(atPath: "\(folder)/\(ownName).position"),
            let text = String(data: data, encoding: .utf8)
        else { return nil }
        return AirPosition(text.filter { !$0.isWhitespace })
    }
}
