import TestSupport
import Testing

@testable import DBus

@Suite("Sleep on the bus thread", .timeLimit(.minutes(hangLimit))) struct BusThreadTests {
    @Test("A pause ends at its moment and never before, even after a longer one began first")
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
            // The order in which their tasks resume depends on the machine's load.
            let ended = [await group.next(), await group.next()]
            #expect(Set(ended) == [.milliseconds(20), .milliseconds(40)])
            group.cancelAll()
        }
        await end(thread)
    }

    @Test("A pause with a tolerance ends at its end, or before with another's wake-up")
    func tolerance() async throws {
        let thread = try BusThread(name: "test")
        // On a busy machine a late thread may find that the moment has passed.
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

    @Test("A pause is ended early by its number")
    func number() async throws {
        let thread = try BusThread(name: "test")
        for pause: Duration in [.zero, .milliseconds(20)] {
            let number = thread.makeSleep()
            // SAFETY: awaited below.
            let sleeper = Task { await thread.sleep(number, until: .now + .seconds(3600)) }
            // SAFETY: the sleeper may have started or not by then; it ends in either case.
            try await Task.sleep(for: pause)
            thread.cancel(number)
            await sleeper.value
            thread.forget(number)
        }
        await end(thread)
    }

    @Test("A pause until a moment that has passed is over at once")
    func past() async throws {
        let thread = try BusThread(name: "test")
        await thread.sleep(until: .now - .seconds(1))
        await end(thread)
    }

    @Test("A pause ends when its task is cancelled, before it began or in the middle")
    func cancelled() async throws {
        let thread = try BusThread(name: "test")
        for pause: Duration in [.zero, .milliseconds(20)] {
            // SAFETY: awaited below.
            let sleeper = Task { await thread.sleep(until: .now + .seconds(3600)) }
            // SAFETY: the sleeper may have started or not by then; it ends in either case.
            try await Task.sleep(for: pause)
            sleeper.cancel()
            await sleeper.value
        }
        await end(thread)
    }

    @Test("A pause ends with the thread, and no pause begins after it")
    func ended() async throws {
        let thread = try BusThread(name: "test")
        // SAFETY: awaited below.
        let sleeper = Task { await thread.sleep(until: .now + .seconds(3600)) }
        // SAFETY: the sleeper may have started or not by then; it ends in either case.
        try await Task.sleep(for: .milliseconds(20))
        await end(thread)
        await sleeper.value
        await thread.sleep(until: .now + .seconds(3600))
    }

    private func end(_ thread: BusThread) async {
        thread.stop(isJoined: true)
        await thread.join()
    }
}
