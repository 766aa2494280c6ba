/// Decides when signals that a full buffer has dropped are made up for.
///
/// At most once for each buffer's length of signals, so that a flood is not answered with a flood
/// of snapshots. No loss is left: when something is dropped, a whole buffer still waits behind it,
/// so the moment comes while that is read.
struct SignalLosses {
    let bufferLimit: Int
    private var recovered = 0
    private var readSince: Int

    init(bufferLimit: Int) {
        self.bufferLimit = bufferLimit
        readSince = bufferLimit
    }

    /// To be asked once for each signal that is read.
    ///
    /// - Parameter dropped: how many were dropped in all.
    mutating func isRecoveryDue(dropped: Int) -> Bool {
        readSince += 1
        guard dropped > recovered, readSince >= bufferLimit else { return false }
        recovered = dropped
        readSince = 0
        return true
    }
}
