import GotchuCore
import Testing

@Suite("EID")
struct EIDTests {
    @Test("Ten hex digits in either case are the same EID, which is written in lower case")
    func readsBothCases() throws {
        let eid = try #require(EID("A1b2C3d4E5"))
        #expect(eid.description == "a1b2c3d4e5")
        #expect(eid == EID("a1b2c3d4e5"))
        #expect(eid.serviceData == Array("a1b2c3d4e5".utf8))
        #expect(EID("0000000001")?.description == "0000000001")
    }

    @Test(
        "Any other text is not an EID",
        arguments: [
            "", "a1b2c3d4e", "a1b2c3d4e5f", "g1b2c3d4e5", "a1b2c3d4e ", "０1b2c3d4e5", "a1b2-c3d4e",
        ]
    )
    func refuses(text: String) {
        #expect(EID(text) == nil)
    }

    @Test("Random EIDs differ, and each is parsed again from its service data")
    func random() {
        let eids = (0..<1000).map { _ in EID.random() }
        #expect(Set(eids).count == eids.count)
        for eid in eids { #expect(EID(hex: eid.serviceData) == eid) }
    }
}
