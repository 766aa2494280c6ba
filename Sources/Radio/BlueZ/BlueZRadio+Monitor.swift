import BlueZ
import DBus
import GotchuCore
import Logging

extension BlueZRadio {
    /// Has bluetoothd match advertisements for us beside discovery; see `AdvertisementMonitor`.
    func startMonitor(_ state: AdapterState, _ peer: BlueZPeer) async throws(BlueZError) {
        let manager = AdvertisementMonitorManager(state.path, of: peer)
        // One from before the adapter was off is of no known state.
        if let old = monitor {
            monitor = nil
            await forget(old, on: peer.connection)
            try await manager.unregister(old.root)
        }
        guard let new = AdvertisementMonitor(serviceUUID: serviceUUID, number: makeNumber())
        else { throw .invalidArguments }
        let objects = new.objects { [weak self] notice, sender in
            await self?.monitorSays(notice, root: new.root, sender: sender)
        }
        do {
            for (path, object) in objects { try await peer.connection.export(object, at: path) }
        } catch {
            throw BlueZError(error)
        }
        monitor = new
        do throws(BlueZError) {
            try await manager.register(new.root)
        } catch {
            await forget(new, on: peer.connection)
            // After a timeout it may be there all the same, and has to be taken back.
            if error != .timedOut, monitor?.root == new.root { monitor = nil }
            throw error
        }
        // Where it does not say, it is not counted on.
        guard (try? await manager.isOffloaded()) ?? true, monitor?.root == new.root else { return }
        planner.monitorOffloaded()
        logger.info("the controller itself matches advertisements for our monitor")
    }

    private func forget(_ monitor: AdvertisementMonitor, on connection: Connection) async {
        await connection.unexport(monitor.path)
        await connection.unexport(monitor.root)
    }

    private func monitorSays(
        _ notice: AdvertisementMonitor.Notice,
        root: ObjectPath,
        sender: String?
    ) {
        guard sender == daemon, monitor?.root == root else { return }
        switch notice {
        case .activated:
            planner.monitorActivated()
            logger.info("an advertisement monitor listens beside discovery")
        case .released:
            planner.monitorReleased(now: .now)
            logger.info("bluetoothd has dropped our advertisement monitor")
        case .found(let device):
            let now = MonotonicTime.now
            // Beside discovery the same comes with its level.
            guard planner.isMonitorAlone, choice.transport == .dbus,
                let sighting = monitorEar.found(device, now: now)
            else { return }
            tell(sighting)
            return hearingChanged(now: now)
        }
        changed()
    }

    /// Keeps in mind what a device said, for as long as only a monitor hears it.
    func remember(_ sighting: Sighting, from device: ObjectPath) {
        if planner.isMonitorAlone {
            monitorEar.heard(sighting, from: device)
        } else if !monitorEar.isEmpty {
            monitorEar.forget()
        }
    }
}
