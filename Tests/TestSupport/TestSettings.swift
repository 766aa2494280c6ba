import Foundation

/// The factor by which every deadline of a test is longer: `GOTCHU_TEST_PATIENCE`, 1 unless said.
///
/// For slow machines; what a test proves does not change with it.
package let patience = factor("GOTCHU_TEST_PATIENCE")

/// Minutes after which a test hangs, on the slowest machine: no test comes near it.
package let hangLimit = 10 * patience

/// The factor by which soaks, fuzzing, random stories and long tables are longer than in CI:
/// `GOTCHU_TEST_EFFORT`, 1 unless said.
package let effort = factor("GOTCHU_TEST_EFFORT")

/// A Boolean that is true if tests of generated pages write them: `GOTCHU_TEST_WRITE`.
package let isWritingPages = ProcessInfo.processInfo.environment["GOTCHU_TEST_WRITE"] != nil

/// A whole number of the environment, at least 1.
private func factor(_ name: String) -> Int {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) }.map { max(1, $0) } ?? 1
}
