import BlueZ
import DBus
import GotchuCore
import Radio

extension BlueZRadio {
    func perform(
        _ action: BlueZPlanner.Action,
        on state: AdapterState,
        _ peer: BlueZPeer
    ) async -> Result<Void, RadioFailure> {
        await forgetStalePaths(on: peer.connection)
        let adapter = Adapter(state.path, of: peer)
        do throws(BlueZError) {
            switch action {
            case .startScan(let isRestart):
                try await startScan(adapter, state, isRestart)
            case .stopScan: try await adapter.stopDiscovery()
            case .refreshScan: try await setFilter(adapter, state.quirks)
            case .register(let eid): try await register(eid, state, peer)
            case .unregister(let eid): try await unregister(eid, state, peer)
            case .powerCycle: try await powerCycle(adapter)
            case .powerOn: try await adapter.setPowered(true)
            case .reconnect: break
            }
            return .success(())
        } catch {
            return .failure(RadioFailure(error, isAdvertising: action.isAdvertising))
        }
    }

    private func startScan(
        _ adapter: Adapter,
        _ state: AdapterState,
        _ isRestart: Bool
    ) async throws(BlueZError) {
        if isRestart {
            do {
                try await adapter.stopDiscovery()
            } catch .timedOut {
                throw .timedOut
            } catch {
                // Other errors are ignored: usually no scan was left over from an earlier start.
            }
        }
        try await setFilter(adapter, state.quirks)
        do {
            try await adapter.startDiscovery()
        } catch .inProgress {
            // If the adapter is discovering, our own session may exist already.
            guard planner.adapter?.isDiscovering != true else { return }
            endStaleScan(of: state)
            throw .inProgress
        }
    }

    /// Sets a filter that differs from the last one: its floor alternates between the two lowest
    /// levels, which no controller measures.
    private func setFilter(
        _ adapter: Adapter,
        _ quirks: BlueZQuirks
    ) async throws(BlueZError) {
        isFloorRaised.toggle()
        try await adapter.setDiscoveryFilter(
            DiscoveryFilter(
                serviceUUID: serviceUUID,
                floor: DiscoveryFilter.lowestFloor + (isFloorRaised ? 1 : 0),
                quirks: quirks
            )
        )
    }

    private func register(
        _ eid: EID,
        _ state: AdapterState,
        _ peer: BlueZPeer
    ) async throws(BlueZError) {
        // An earlier registration may still exist: bluetoothd kept it while the adapter was off, or
        // left a call unanswered. It is removed first.
        try await unregister(eid, state, peer)
        guard
            let advertisement = LEAdvertisement(
                eid,
                serviceUUID: serviceUUID,
                number: makeNumber()
            )
        else { throw .invalidArguments }
        let path = advertisement.path
        do {
            try await peer.connection.export(
                advertisement.object { [weak self] sender in
                    await self?.released(eid, path: path, sender: sender)
                },
                at: path
            )
        } catch {
            throw BlueZError(error)
        }
        paths[eid] = RegisteredPath(path: path, adapter: state.path)
        do throws(BlueZError) {
            try await LEAdvertisingManager(state.path, of: peer).register(path)
        } catch {
            // Without its object, the advertisement can no longer go on the air. After a timeout it
            // may be on the air already. Its path is then kept, and it is unregistered later.
            await peer.connection.unexport(path)
            if error != .timedOut, paths[eid]?.path == path { paths[eid] = nil }
            throw error
        }
    }

    /// Removes any advertisement that bluetoothd may have for an EID.
    private func unregister(
        _ eid: EID,
        _ state: AdapterState,
        _ peer: BlueZPeer
    ) async throws(BlueZError) {
        guard let registered = paths[eid] else { return }
        let path = registered.path
        // A bluetoothd with this quirk must first finish the registration.
        if !state.quirks.canUnregisterWhileRegistering { try await peer.waitForEarlierCalls() }
        do throws(BlueZError) {
            try await LEAdvertisingManager(registered.adapter, of: peer).unregister(path)
        } catch .gone {
            // The adapter is gone, and its advertisements with it.
        }
        await peer.connection.unexport(path)
        if paths[eid]?.path == path { paths[eid] = nil }
    }

    private func powerCycle(_ adapter: Adapter) async throws(BlueZError) {
        // Not a child task: an adapter that was switched off must be switched on again even if the
        // radio is being shut down.
        // SAFETY: owned by this call, which waits for it.
        let task = Task { () async -> BlueZError? in
            do throws(BlueZError) {
                try await adapter.setPowered(false)
                try await adapter.setPowered(true)
                return nil
            } catch {
                return error
            }
        }
        if let error = await task.value { throw error }
    }

    private func forgetStalePaths(on connection: Connection) async {
        for path in stalePaths { await connection.unexport(path) }
        stalePaths = []
    }
}

/// The path of an EID's object on the bus, and the adapter that it was registered with.
struct RegisteredPath: Equatable, Sendable {
    let path: ObjectPath
    let adapter: ObjectPath
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
            // The kernel still runs the scan of a bluetoothd that died.
            case .inProgress: isAdvertising ? .rejected : .scanBusy
            case .alreadyExists, .failed, .invalidArguments, .invalidLength,
                .notSupported, .other:
                .rejected
            }
        self.init(code, underlying: "\(error)")
    }
}
