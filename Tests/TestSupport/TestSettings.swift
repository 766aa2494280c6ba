import Foundation

/// The factor that lengthens each deadline of a test: `GOTCHU_TEST_PATIENCE`, by default 1.
///
/// It is meant for slow machines, and does not change the other checks of a test.
package let patience = factor("GOTCHU_TEST_PATIENCE")

/// The factor that lengthens soak tests, fuzzing, random sequences and long tables:
/// `GOTCHU_TEST_EFFORT`, by default 1. CI uses 1.
package let effort = factor("GOTCHU_TEST_EFFORT")

/// A Boolean that is true if tests of generated pages write the pages: `GOTCHU_TEST_WRITE`.
package let isWritingPages = ProcessInfo.processInfo.environment["GOTCHU_TEST_WRITE"] != nil

/// Returns a whole number of the environment, at least 1.
private func factor(_ name: String) -> Int {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) }.map { max(1, $0) } ?? 1
}
