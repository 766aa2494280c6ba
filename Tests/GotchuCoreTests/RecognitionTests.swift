import GotchuCore
import TestSupport
import Testing

@Suite("The recognition of an advertisement")
struct RecognitionTests {
    private let eid = "a1b2c3d4e5"

    @Test("Service data of ten hex digits is recognised as an EID, in either case")
    func serviceData() {
        for text in [eid, eid.uppercased()] {
            let heard = HeardAdvertisement(serviceData: Array(text.utf8))
            #expect(heard.recognise() == .ours(EID(literal: eid), .serviceData))
        }
    }

    @Test("A local name is recognised as an EID only together with the service UUID")
    func localName() {
        let phone = HeardAdvertisement(listsService: true, localName: eid)
        #expect(phone.recognise() == .ours(EID(literal: eid), .localName))
        let stranger = HeardAdvertisement(localName: eid)
        #expect(stranger.recognise() == .ignored(.noService))
    }

    @Test("An ignored advertisement has the reason why it is ignored")
    func strangers() {
        let tile: [UInt8] = [0x02, 0x00, 0xF3, 0x8E, 0x91, 0xC7, 0xD2, 0xAA, 0xB0, 0x80]
        #expect(HeardAdvertisement(serviceData: tile).recognise() == .ignored(.tile))
        #expect(HeardAdvertisement(serviceData: []).recognise() == .ignored(.length))
        #expect(
            HeardAdvertisement(serviceData: Array("a1b2c3d4e5f".utf8)).recognise()
                == .ignored(.length)
        )
        #expect(
            HeardAdvertisement(serviceData: Array("a1b2c3d4ex".utf8)).recognise()
                == .ignored(.charset)
        )
        #expect(
            HeardAdvertisement(listsService: true, localName: "Jane's phon").recognise()
                == .ignored(.length)
        )
        #expect(HeardAdvertisement(listsService: true).recognise() == .ignored(.noService))
    }

    @Test("Service data that is not an EID is ignored, even together with a name that is an EID")
    func noRescue() {
        let heard = HeardAdvertisement(
            serviceData: Array("somebody's".utf8),
            listsService: true,
            localName: eid
        )
        #expect(heard.recognise() == .ignored(.charset))
    }
}
