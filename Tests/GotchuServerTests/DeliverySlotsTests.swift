import Testing

@testable import GotchuServer

@Suite("Slots for webhook deliveries")
struct DeliverySlotsTests {
    @Test(
        "Accepted events give an endpoint more slots, up to a limit; one failure takes these back"
    )
    func growth() {
        var slots = DeliverySlots()
        #expect(slots.free(for: "a") == 1)
        for _ in 0..<100 {
            slots.begin(1, for: "a")
            slots.end("a", isAccepted: true)
        }
        #expect(slots.free(for: "a") == DeliverySlots.limitPerEndpoint)
        slots.begin(5, for: "a")
        #expect(slots.free(for: "a") == DeliverySlots.limitPerEndpoint - 5)
        slots.end("a", isAccepted: false)
        #expect(slots.free(for: "a") == 0)
        for _ in 0..<4 { slots.end("a", isAccepted: false) }
        #expect(slots.free(for: "a") == 1)
    }

    @Test("If 31 endpoints hang and use all of their slots, another endpoint still has one slot")
    func hanging() {
        var slots = DeliverySlots()
        var running = 0
        for number in 0..<31 {
            let endpoint = "hangs-\(number)"
            for _ in 0..<20 {
                slots.begin(1, for: endpoint)
                slots.end(endpoint, isAccepted: true)
            }
            let free = slots.free(for: endpoint)
            #expect(free >= 1)
            slots.begin(free, for: endpoint)
            running += free
        }
        #expect(running == 31 + DeliverySlots.commonLimit)
        #expect(slots.free(for: "another") == 1)
        slots.begin(1, for: "another")
        #expect(slots.free(for: "another") == 0)
    }

    @Test("An endpoint without running or waiting deliveries starts again with one slot")
    func forgotten() {
        var slots = DeliverySlots()
        for endpoint in ["idle", "waiting", "running"] {
            slots.begin(3, for: endpoint)
            for _ in 0..<2 { slots.end(endpoint, isAccepted: true) }
            if endpoint != "running" { slots.end(endpoint, isAccepted: true) }
        }
        slots.forget(except: ["waiting"])
        #expect(slots.free(for: "idle") == 1)
        #expect(slots.free(for: "waiting") == 4)
        #expect(slots.free(for: "running") == 2)
    }
}
