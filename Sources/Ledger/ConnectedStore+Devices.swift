extension ConnectedStore {
    package func add(_ device: Device) async throws(LedgerError) {
        try await wrapping(.tryAgain) { try await sideWriter.add(device) }
    }

    package func devices(limit: Int) async throws(LedgerError) -> [Device] {
        try await wrapping(.tryAgain) { try await sideWriter.devices(limit: limit) }
    }

    package func device(_ id: DeviceID) async throws(LedgerError) -> Device? {
        try await wrapping(.tryAgain) { try await reader.device(id) }
    }

    package func change<Result: Sendable>(
        _ id: DeviceID,
        _ body: @Sendable (inout Device) -> Result
    ) async throws(LedgerError) -> Result? {
        try await wrapping(.tryAgain) { try await sideWriter.change(id, body) }
    }
}
