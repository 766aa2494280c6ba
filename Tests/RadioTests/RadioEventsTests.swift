import GotchuCore
import Radio
import Synchronization
import Testing

@Suite("What a radio noticed") struct RadioEventsTests {
    @Test("is told at once, in order, and to whoever comes late the newest state first")
    func order() {
        let events = RadioEvents()
        events.tell(.stateChanged(RadioState(adapter: "hci0")))
        events.tell(.ignored(.tile))
        events.tell(.stateChanged(RadioState(adapter: "hci1")))
        let log = Log()
        events.listen { log.add($0) }
        events.tell(.ignored(.length))
        #expect(log.lines == ["hci1", "length"])
    }

    @Test("is told to the last listener alone")
    func replaced() {
        let events = RadioEvents()
        let (first, second) = (Log(), Log())
        events.listen { first.add($0) }
        events.tell(.ignored(.tile))
        events.listen { second.add($0) }
        events.tell(.ignored(.length))
        #expect(first.lines == ["tile"])
        #expect(second.lines == ["length"])
    }

    private final class Log: Sendable {
        private let told = Mutex<[String]>([])

        var lines: [String] { told.withLock(\.self) }

        func add(_ event: RadioEvent) {
            let line =
                switch event {
                case .stateChanged(let state): state.adapter ?? "none"
                case .ignored(let reason): "\(reason)"
                case .heard(let sighting): sighting.eid.description
                }
            told.withLock { $0.append(line) }
        }
    }
}
