import BlueZ
import Radio

/// The way to bluetoothd and the adapter that is used: pure.
struct AdapterLink: Sendable {
    /// The state of the way to bluetoothd.
    enum Stage: Equatable, Sendable {
        case connecting
        case noBus(String?)
        case noBlueZ
        /// bluetoothd runs under this unique name, its objects are not known yet.
        case asking(String?)
        case up
    }

    private(set) var stage = Stage.connecting
    private(set) var adapter: AdapterState?
    /// A Boolean that is true while bluetoothd has its name and has not told its objects in time.
    private var isNotAnswering = false
    private let adapterName: String?

    /// - Parameter adapterName: `hci0`; `nil` for the first that is powered.
    init(adapterName: String?) {
        self.adapterName = adapterName
    }

    /// The adapter, if bluetoothd can be asked to do something with it; it may be switched off.
    var usable: AdapterState? { stage == .up ? adapter : nil }

    var isPowered: Bool { usable?.isPowered == true }

    /// - Returns: True if it is another stage.
    mutating func changed(to stage: Stage) -> Bool {
        guard self.stage != stage else { return false }
        self.stage = stage
        adapter = nil
        isNotAnswering = false
        return true
    }

    mutating func notAnswering() { isNotAnswering = true }

    /// - Parameter isKept: True if no other adapter may take the place of the one that is off.
    /// - Returns: The adapter as it was before.
    mutating func adaptersChanged(_ adapters: [AdapterState], isKept: Bool) -> AdapterState? {
        let before = adapter
        stage = .up
        isNotAnswering = false
        adapter = choose(from: adapters, isKept: isKept)
        return before
    }

    private func choose(from adapters: [AdapterState], isKept: Bool) -> AdapterState? {
        if let adapterName { return adapters.first { $0.name == adapterName } }
        let current = adapters.first { $0.path == adapter?.path }
        if let current, isKept || current.isPowered { return current }
        return adapters.first(where: \.isPowered) ?? adapters.first
    }

    /// The reason why nothing at all can be done now, or `nil`.
    var hopeless: RadioFailure? {
        switch stage {
        case .connecting: nil
        case .asking: isNotAnswering ? RadioFailure(.timedOut) : nil
        case .noBus(let underlying): RadioFailure(.noBus, underlying: underlying)
        case .noBlueZ: RadioFailure(.noBlueZ)
        case .up:
            if let adapter {
                adapter.isPowered ? nil : RadioFailure(.adapterOff)
            } else {
                RadioFailure(.noAdapter)
            }
        }
    }
}
