import BlueZ
import Radio

/// The connection to bluetoothd and the adapter in use. Performs no I/O.
struct AdapterLink: Sendable {
    /// The stage of the connection to bluetoothd.
    enum Stage: Equatable, Sendable {
        case connecting
        case noBus(String?)
        case noBlueZ
        /// bluetoothd runs under this unique name; its objects are not known yet.
        case asking(String?)
        case up
    }

    private(set) var stage = Stage.connecting
    private(set) var adapter: AdapterState?
    /// A Boolean that is true if bluetoothd owns its name but did not list its objects in time.
    private var isNotAnswering = false
    private let adapterName: String?

    /// - Parameter adapterName: The name, such as `hci0`, or the address, such as
    ///   `02:AA:00:00:00:01`. An adapter that is plugged in again may get another name, but keeps
    ///   its address. `nil` for the first adapter that is powered.
    init(adapterName: String?) {
        self.adapterName = adapterName
    }

    /// The adapter if bluetoothd can be asked to use it; it may be switched off.
    var usable: AdapterState? { stage == .up ? adapter : nil }

    var isPowered: Bool { usable?.isPowered == true }

    /// - Returns: True if the stage has changed.
    mutating func changed(to stage: Stage) -> Bool {
        guard self.stage != stage else { return false }
        self.stage = stage
        adapter = nil
        isNotAnswering = false
        return true
    }

    mutating func notAnswering() { isNotAnswering = true }

    /// - Parameter isKept: True if no other adapter may replace the current one while it is off.
    /// - Returns: The previous adapter.
    mutating func adaptersChanged(_ adapters: [AdapterState], isKept: Bool) -> AdapterState? {
        let before = adapter
        stage = .up
        isNotAnswering = false
        adapter = choose(from: adapters, isKept: isKept)
        return before
    }

    private func choose(from adapters: [AdapterState], isKept: Bool) -> AdapterState? {
        if let adapterName {
            return adapters.first { $0.name == adapterName || $0.address == adapterName }
        }
        let current = adapters.first { $0.path == adapter?.path }
        if let current, isKept || current.isPowered { return current }
        return adapters.first(where: \.isPowered) ?? adapters.first
    }

    /// The reason why no operation is possible now; `nil` if there is none.
    var blockingFailure: RadioFailure? {
        switch stage {
        case .connecting: nil
        case .asking: isNotAnswering ? RadioFailure(.timedOut) : nil
        case .noBus(let underlying): RadioFailure(.noBus, underlying: underlying)
        case .noBlueZ: RadioFailure(.noBlueZ)
        case .up:
            if let adapter {
                adapter.isPowered ? nil : RadioFailure(.adapterOff)
            } else {
                RadioFailure(.noAdapter, underlying: adapterName)
            }
        }
    }
}
