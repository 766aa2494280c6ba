import Foundation

/// The factor by which every deadline of a test is longer: `GOTCHU_TEST_PATIENCE`, by default 1.
///
/// Meant for slow machines; it does not change what a test proves.
package let patience = factor("GOTCHU_TEST_PATIENCE")

/// The minutes after which a test counts as hung; no test comes near it on the slowest machine.
package let hangLimit = 10 * patience

/// The factor by which soaks, fuzzing, random stories and long tables are longer than in CI:
/// `GOTCHU_TEST_EFFORT`, by default 1.
package let effort = factor("GOTCHU_TEST_EFFORT")

/// A Boolean that is true if tests of generated pages write them: `GOTCHU_TEST_WRITE`.
package let isWritingPages = ProcessInfo.processInfo.environment["GOTCHU_TEST_WRITE"] != nil

/// A whole number of the environment, at least 1.
private func factor(_ name: String) -> Int {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) }.map { max(1, $0) } ?? 1
}
