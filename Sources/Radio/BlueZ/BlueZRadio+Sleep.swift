import GotchuCore

/// What `sleep(until:)` waits for.
struct Wakeup {
    var isDue = false
    var sleeper: CheckedContinuation<Void, Never>?
    /// Tells one sleep from the next.
    var turn: UInt64 = 0
    var endedTurn: UInt64 = 0
    /// When the present sleep ends by itself.
    var deadline: MonotonicTime?

    /// Whether there is a sleep that would last beyond a moment.
    func isLater(than moment: MonotonicTime) -> Bool {
        sleeper != nil && deadline.map { $0 > moment } ?? true
    }
}

extension BlueZRadio {
    /// Ends the keeper's sleep, or the next one if it is awake.
    func wake() {
        wakeup.isDue = true
        wakeup.sleeper.take()?.resume()
    }

    /// Returns after a `wake()`, at `deadline`, or when the task is cancelled. One caller.
    func sleep(until deadline: MonotonicTime?) async {
        wakeup.turn += 1
        wakeup.deadline = deadline
        let turn = wakeup.turn
        // SAFETY: owned by this sleep, which ends or cancels it before it returns.
        let timer = Task(executorPreference: thread) { [self] in
            await pause(for: deadline.map { $0 - .now } ?? .seconds(3600))
            await end(turn)
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if wakeup.isDue || wakeup.endedTurn == turn {
                    continuation.resume()
                } else {
                    wakeup.sleeper = continuation
                }
            }
        } onCancel: {
            timer.cancel()
        }
        timer.cancel()
        wakeup.isDue = false
    }

    private func end(_ turn: UInt64) {
        guard turn == wakeup.turn else { return }
        wakeup.endedTurn = turn
        wakeup.sleeper.take()?.resume()
    }
}
