import GotchuCore
import Testing

@Suite("Turns on the air")
struct AirScheduleTests {
    private func id(_ number: Int) throws -> SessionID {
        try #require(SessionID(rawValue: "s-\(number)"))
    }

    private func time(_ seconds: Double) -> MonotonicTime {
        MonotonicTime(sinceStart: .milliseconds(Int(seconds * 1000)))
    }

    private func filled(_ count: Int, capacity: Int?) throws -> AirSchedule {
        var schedule = AirSchedule(capacity: capacity)
        for number in 0..<count {
            schedule.add(try id(number), at: time(Double(number) / 10))
            _ = schedule.advance(to: time(Double(number) / 10))
        }
        return schedule
    }

    @Test("Every request is on the air if there is room for all", arguments: [nil, 6])
    func all(capacity: Int?) throws {
        var schedule = try filled(5, capacity: capacity)
        let everybody = Set(try (0..<5).map(id))
        #expect(schedule.advance(to: time(100)) == everybody)
        #expect(schedule.nextChange == nil)
    }

    @Test("One advertising slot stays free, unless the adapter has only one")
    func spare() throws {
        for (capacity, room) in [(1, 1), (2, 1), (3, 2), (5, 4)] {
            var schedule = try filled(8, capacity: capacity)
            #expect(schedule.advance(to: time(1)).count == room)
        }
    }

    @Test("A new request is on the air at once, in place of the request that was there longest")
    func newest() throws {
        var schedule = try filled(4, capacity: 5)
        schedule.add(try id(4), at: time(1))
        let on = schedule.advance(to: time(1))
        #expect(try on == Set((1..<5).map(id)))
    }

    @Test("Requests share the time on the air equally, to within about one turn", arguments: 1...6)
    func fair(capacity: Int) throws {
        let count = 7
        var schedule = try filled(count, capacity: capacity)
        var heard = Dictionary(uniqueKeysWithValues: try (0..<count).map { (try id($0), 0.0) })
        var now = time(1)
        let end = time(1 + 4.0 * 7 * 10)
        while now < end {
            for id in schedule.advance(to: now) { heard[id, default: 0] += 0.1 }
            now = now + .milliseconds(100)
        }
        let room = Double(max(1, capacity - 1))
        let share = 280 * room / Double(count)
        for (id, seconds) in heard {
            #expect(abs(seconds - share) <= 8.1, "\(id) had \(seconds) of \(share) seconds")
        }
    }

    @Test("The requests on the air change at the announced time, and not before")
    func announced() throws {
        var schedule = try filled(3, capacity: 2)
        let before = schedule.advance(to: time(0.3))
        let change = try #require(schedule.nextChange)
        #expect(schedule.advance(to: change + .milliseconds(-1)) == before)
        let after = schedule.advance(to: change)
        #expect(after.isDisjoint(with: before))
    }

    @Test(
        "A request that ends makes room at once, and a smaller capacity takes a request off the air"
    )
    func leaving() throws {
        var schedule = try filled(4, capacity: 3)
        let on = schedule.advance(to: time(0.3))
        schedule.remove(try #require(on.first))
        #expect(schedule.advance(to: time(0.4)).count == 2)
        schedule.capacity = 2
        #expect(schedule.advance(to: time(0.5)).count == 1)
        schedule.capacity = nil
        #expect(schedule.advance(to: time(0.6)).count == 3)
    }
}
