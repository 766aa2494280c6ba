import Testing

@testable import LocalAPI

@Suite("The connections and look-ups of one address")
struct LocalTrafficTests {
    @Test("The look-ups of one user leave room for those of another")
    func lookUps() {
        let traffic = LocalTraffic(.socket)
        for _ in 0..<LocalTraffic.userLookUpLimit { #expect(traffic.beginLookUp(of: 1)) }
        #expect(!traffic.beginLookUp(of: 1) && traffic.counts.refusals == 1)
        #expect(traffic.beginLookUp(of: 2))
        traffic.endLookUp(of: 1)
        #expect(traffic.beginLookUp(of: 1))
    }
}
