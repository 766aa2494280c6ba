import GotchuCore
import Radio
import Testing

@Suite("What a radio noticed and nobody took yet")
struct RadioOutputTests {
    @Test("is bounded, counted when it is dropped, and always holds the newest state")
    func newestState() async {
        let (events, output) = RadioOutput.makeStream(limit: 4)
        for name in ["hci0", "hci1"] {
            output.yield(.stateChanged(RadioState(adapter: name)))
            for _ in 0..<9 { output.yield(.ignored(.tile)) }
        }
        output.finish()
        var kept: [RadioEvent] = []
        for await event in events { kept.append(event) }
        #expect(kept.count == 4)
        #expect(output.drops == 16)
        let states = kept.compactMap { event -> String? in
            if case .stateChanged(let state) = event { state.adapter } else { nil }
        }
        #expect(states == ["hci1"])
    }
}
