import TestSupport

extension TemporaryFolder {
    /// The path of a file with this name.
    func file(_ name: String) -> String { "\(path)/\(name)" }
}
