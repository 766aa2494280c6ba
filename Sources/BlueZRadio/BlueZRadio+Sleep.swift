import DBus
import GotchuCore

/// The state of `sleep(until:)`.
struct Wakeup {
    fileprivate var isDue = false
    /// The id of the current sleep on the radio's thread.
    fileprivate var sleep: UInt64?
    /// The time at which the current sleep ends by itself.
    fileprivate var deadline: MonotonicTime?

    /// Returns true if there is a sleep that would last beyond a given time.
    func isLater(than moment: MonotonicTime) -> Bool {
        sleep != nil && deadline.map { $0 > moment } ?? true
    }
}

extension BlueZRadio {
    /// Ends the current sleep of `runActions(on:)`. If there is none, its next sleep ends at once.
    func wake() {
        wakeup.isDue = true
        if let sleep = wakeup.sleep { thread.cancel(sleep) }
    }

    /// Sleeps until `wake()`, `deadline` or the cancellation of the task; without a deadline, for
    /// an hour at most. Only one task may sleep at a time.
    func sleep(until deadline: MonotonicTime?) async {
        if !wakeup.isDue {
            let sleep = thread.makeSleep()
            wakeup.sleep = sleep
            wakeup.deadline = deadline
            await thread.sleep(sleep, until: .now + (deadline.map { $0 - .now } ?? .seconds(3600)))
            wakeup.sleep = nil
            thread.forget(sleep)
        }
        wakeup.isDue = false
    }
}
