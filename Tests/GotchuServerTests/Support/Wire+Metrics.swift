extension Wire {
    /// Returns the value of the first sample with this name whose labels contain `part`.
    func metric(_ name: String, _ part: String = "") async throws -> Double? {
        try await get("/metrics").text.split(separator: "\n")
            .first { $0.hasPrefix(name) && $0.contains(part) }
            .flatMap { $0.split(separator: " ").last }.flatMap { Double($0) }
    }
}
