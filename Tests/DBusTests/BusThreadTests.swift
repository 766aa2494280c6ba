import BusTestSupport
import TestSupport
import Testing

@testable import DBus

@Suite("Sleeps on the bus thread") struct BusThreadTests {
    @Test("A sleep does not end before its deadline, and does not wait for a longer sleep")
    func moments() async throws {
        let thread = try BusThread(name: "test")
        let start = ContinuousClock.now
        await withTaskGroup(of: Duration.self) { group in
            for length: Duration in [.seconds(3600), .milliseconds(40), .milliseconds(20)] {
                group.addTask {
                    await thread.sleep(until: start + length)
                    #expect(Task.isCancelled || start.duration(to: .now) >= length)
                    return length
                }
            }
            // The order in which the two tasks resume depends on the machine's load.
            let ended = [await group.next(), await group.next()]
            #expect(Set(ended) == [.milliseconds(20), .milliseconds(40)])
            group.cancelAll()
        }
        await end(thread)
    }

    @Test("A sleep ends after its tolerance, or earlier if another sleep wakes the thread")
    func tolerance() async throws {
        let thread = try BusThread(name: "test")
        // On a busy machine, the deadline may pass before the thread begins to wait. The sleep then
        // ends at once, so the test tries until one sleep lasts for its whole tolerance.
        var longest: Duration = .zero
        for _ in 0..<50 where longest < .milliseconds(100) {
            let start = ContinuousClock.now
            await thread.sleep(until: start + .milliseconds(20), tolerance: .milliseconds(80))
            #expect(start.duration(to: .now) >= .milliseconds(20))
            longest = max(longest, start.duration(to: .now))
        }
        #expect(longest >= .milliseconds(100))
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await thread.sleep(until: .now + .milliseconds(20), tolerance: .seconds(3600))
            }
            group.addTask { await thread.sleep(until: .now + .milliseconds(60)) }
        }
        await end(thread)
    }

    @Test("A sleep can be cancelled by its id")
    func number() async throws {
        let thread = try BusThread(name: "test")
        for pause: Duration in [.zero, .milliseconds(20)] {
            let number = thread.makeSleep()
            // SAFETY: awaited below.
            let sleeper = Task { await thread.sleep(number, until: .now + .seconds(3600)) }
            // SAFETY: the test passes whether or not the sleep has begun by then.
            try await Task.sleep(for: pause)
            thread.cancel(number)
            await sleeper.value
            thread.forget(number)
        }
        await end(thread)
    }

    @Test("A sleep whose deadline has passed ends at once")
    func past() async throws {
        let thread = try BusThread(name: "test")
        try await withDeadline { await thread.sleep(until: .now - .seconds(1)) }
        await end(thread)
    }

    @Test("A sleep ends when its task is cancelled, before the sleep begins or during it")
    func cancelled() async throws {
        let thread = try BusThread(name: "test")
        for pause: Duration in [.zero, .milliseconds(20)] {
            // SAFETY: awaited below.
            let sleeper = Task { await thread.sleep(until: .now + .seconds(3600)) }
            // SAFETY: the test passes whether or not the sleep has begun by then.
            try await Task.sleep(for: pause)
            sleeper.cancel()
            await sleeper.value
        }
        await end(thread)
    }

    @Test("A sleep ends when the thread stops, and a later sleep ends at once")
    func ended() async throws {
        let thread = try BusThread(name: "test")
        // SAFETY: awaited below.
        let sleeper = Task { await thread.sleep(until: .now + .seconds(3600)) }
        // SAFETY: the test passes whether or not the sleep has begun by then.
        try await Task.sleep(for: .milliseconds(20))
        await end(thread)
        try await withDeadline {
            await sleeper.value
            await thread.sleep(until: .now + .seconds(3600))
        }
    }

    private func end(_ thread: BusThread) async {
        thread.stop(isJoined: true)
        await thread.join()
    }
}
