import Testing

@testable import BlueZ

@Suite struct SignalLossesTests {
    @Test("a loss is made up for at once, the next one after a buffer's length")
    func pace() {
        var losses = SignalLosses(bufferLimit: 10)
        var due: [Int] = []
        // What was dropped in all, as each of 31 signals is read.
        let drops = [0, 3] + Array(repeating: 4, count: 20) + Array(repeating: 5, count: 9)
        for (read, dropped) in drops.enumerated() where losses.isRecoveryDue(dropped: dropped) {
            due.append(read)
        }
        // At 22 the third loss; none is left unmade, none is made up for twice.
        #expect(due == [1, 11, 22])
    }
}
