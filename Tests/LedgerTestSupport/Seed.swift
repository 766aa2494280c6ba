internal import TestSupport

/// The seed of this test run. It is printed once, so that a failure can be repeated.
package let runSeed = SeededGenerator("Stories of the ledger").seed
