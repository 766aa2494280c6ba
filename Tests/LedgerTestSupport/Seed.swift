internal import TestSupport

/// The seed of this run, printed once, so that a failure can be repeated.
package let runSeed = SeededGenerator("Stories of the ledger").seed
