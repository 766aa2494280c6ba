import TestSupport

extension TemporaryFolder {
    /// Where a file of that name would be.
    func file(_ name: String) -> String { "\(path)/\(name)" }
}
