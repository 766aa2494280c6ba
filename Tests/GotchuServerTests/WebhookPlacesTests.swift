import Testing

@testable import GotchuServer

@Suite("Places for webhooks")
struct WebhookPlacesTests {
    @Test("what an endpoint accepts earns it more, up to a bound; one failure takes that back")
    func growth() {
        var places = WebhookPlaces()
        #expect(places.free(for: "a") == 1)
        for _ in 0..<100 {
            places.begin(1, for: "a")
            places.end("a", isAccepted: true)
        }
        #expect(places.free(for: "a") == WebhookPlaces.limitPerEndpoint)
        places.begin(5, for: "a")
        #expect(places.free(for: "a") == WebhookPlaces.limitPerEndpoint - 5)
        places.end("a", isAccepted: false)
        #expect(places.free(for: "a") == 0)
        for _ in 0..<4 { places.end("a", isAccepted: false) }
        #expect(places.free(for: "a") == 1)
    }

    @Test("however many hang with all that they have earned, another has its own place")
    func hanging() {
        var places = WebhookPlaces()
        var running = 0
        for number in 0..<31 {
            let endpoint = "hangs-\(number)"
            for _ in 0..<20 {
                places.begin(1, for: endpoint)
                places.end(endpoint, isAccepted: true)
            }
            let free = places.free(for: endpoint)
            #expect(free >= 1)
            places.begin(free, for: endpoint)
            running += free
        }
        #expect(running == 31 + WebhookPlaces.commonLimit)
        #expect(places.free(for: "another") == 1)
        places.begin(1, for: "another")
        #expect(places.free(for: "another") == 0)
    }

    @Test("an endpoint for which nothing waits any more begins anew")
    func forgotten() {
        var places = WebhookPlaces()
        for endpoint in ["idle", "waiting", "running"] {
            places.begin(2, for: endpoint)
            places.end(endpoint, isAccepted: true)
            if endpoint != "running" { places.end(endpoint, isAccepted: true) }
        }
        places.forget(except: ["waiting"])
        #expect(places.free(for: "idle") == 1)
        #expect(places.free(for: "waiting") == 3)
        #expect(places.free(for: "running") == 1)
    }
}
