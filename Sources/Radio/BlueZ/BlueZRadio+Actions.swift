import BlueZ
import DBus
import GotchuCore

extension BlueZRadio {
    func perform(
        _ action: BlueZPlanner.Action,
        on adapter: AdapterState,
        _ connection: Connection
    ) async -> Result<Void, RadioFailure> {
        do throws(BlueZError) {
            switch action {
            case .startScan(let isRestart): try await startScan(adapter, connection, isRestart)
            case .refreshScan: try await setFilter(adapter, connection)
            case .register(let eid): try await register(eid, adapter, connection)
            case .unregister(let eid): try await unregister(eid, adapter, connection)
            }
            return .success(())
        } catch {
            return .failure(RadioFailure(error, isAdvertising: action.isAdvertising))
        }
    }

    private func startScan(
        _ state: AdapterState,
        _ connection: Connection,
        _ isRestart: Bool
    ) async throws(BlueZError) {
        let adapter = Adapter(state.path, on: connection)
        // Whatever is left of an earlier start; that there is nothing to stop is no failure.
        if isRestart { try? await adapter.stopDiscovery() }
        try await setFilter(state, connection)
        do {
            try await adapter.startDiscovery()
        } catch .inProgress {
            // Either our session exists already, or the kernel was busy: `Discovering` tells which,
            // and the planner watches it.
        }
    }

    /// Sets a filter that differs from the last one, by 1 dB that no controller can measure.
    private func setFilter(
        _ state: AdapterState,
        _ connection: Connection
    ) async throws(BlueZError) {
        isFloorRaised.toggle()
        try await Adapter(state.path, on: connection).setDiscoveryFilter(
            DiscoveryFilter(
                serviceUUID: serviceUUID,
                floor: DiscoveryFilter.lowestFloor + (isFloorRaised ? 1 : 0),
                quirks: state.quirks
            )
        )
    }

    private func register(
        _ eid: EID,
        _ state: AdapterState,
        _ connection: Connection
    ) async throws(BlueZError) {
        let manager = LEAdvertisingManager(state.path, on: connection)
        // One that bluetoothd kept while the adapter was off is of no known state.
        if let path = paths.removeValue(forKey: eid) {
            try? await manager.unregister(path)
            await connection.unexport(path)
        }
        guard
            let advertisement = LEAdvertisement(
                eid,
                serviceUUID: serviceUUID,
                number: makeNumber()
            )
        else { throw .invalidArguments }
        let path = advertisement.path
        do {
            try await connection.export(
                advertisement.object { [weak self] sender in
                    await self?.wasReleased(eid, path: path, sender: sender)
                },
                at: path
            )
        } catch {
            throw BlueZError(error)
        }
        do throws(BlueZError) {
            try await manager.register(path)
            paths[eid] = path
        } catch {
            // After a timeout it may be registered all the same.
            if error == .timedOut { try? await manager.unregister(path) }
            await connection.unexport(path)
            throw error
        }
    }

    private func unregister(
        _ eid: EID,
        _ state: AdapterState,
        _ connection: Connection
    ) async throws(BlueZError) {
        guard let path = paths.removeValue(forKey: eid) else { return }
        do throws(BlueZError) {
            try await LEAdvertisingManager(state.path, on: connection).unregister(path)
            await connection.unexport(path)
        } catch {
            await connection.unexport(path)
            throw error
        }
    }
}

extension BlueZPlanner.Action {
    var isAdvertising: Bool {
        switch self {
        case .register, .unregister: true
        case .startScan, .refreshScan: false
        }
    }
}

extension RadioFailure {
    init(_ error: BlueZError, isAdvertising: Bool) {
        let code: Code =
            switch error {
            case .notReady: .adapterOff
            case .gone, .doesNotExist: .noBlueZ
            case .accessDenied, .notAuthorized: .notPermitted
            case .notPermitted: isAdvertising ? .tooManyAdvertisements : .notPermitted
            case .timedOut: .timedOut
            case .alreadyExists, .failed, .inProgress, .invalidArguments, .invalidLength,
                .notSupported, .other:
                .rejected
            }
        self.init(code, underlying: "\(error)")
    }
}
