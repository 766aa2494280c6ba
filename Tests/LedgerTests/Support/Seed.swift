import TestSupport

/// The seed of this run, printed once, so that a failure can be repeated.
let runSeed = SeededGenerator("Stories of the ledger").seed
