import Foundation
import TestSupport
import Testing

@testable import GotchuCore

@Suite("Recordings") struct RecordingTests {
    private static let eid = EID(literal: "a1b2c3d4e5")

    @Test("SipHash-2-4 gives the hashes of its authors' test vectors", arguments: [0, 8, 15])
    func vectors(length: Int) {
        // The array vectors_sip64 of the reference implementation, as little-endian numbers.
        let expected: [Int: UInt64] = [
            0: 0x726F_DB47_DD0E_0E31, 8: 0x93F5_F579_9A93_2462, 15: 0xA129_CA61_49BE_45E5,
        ]
        let message = (0..<length).map { UInt8($0) }
        let key: (UInt64, UInt64) = (0x0706_0504_0302_0100, 0x0F0E_0D0C_0B0A_0908)
        #expect(SipHash.hash(message, key) == expected[length])
    }

    @Test("An EID has one pseudonym in a recording, and another pseudonym in another recording")
    func pseudonyms() {
        var random = SeededGenerator("pseudonyms")
        let one = Pseudonymizer(key: (random.next(), random.next()))
        let two = Pseudonymizer(key: (random.next(), random.next()))
        let eids = (0..<1000).map { _ in EID.random(using: &random) }
        #expect(
            eids.allSatisfy {
                one.pseudonym(of: $0) == one.pseudonym(of: $0)
                    && one.pseudonym(of: $0) != two.pseudonym(of: $0)
            }
        )
        #expect(eids.allSatisfy { one.pseudonym(of: $0) != $0 })
        #expect(Set(eids.map { one.pseudonym(of: $0) }).count == Set(eids).count)
        #expect(Pseudonymizer().pseudonym(of: Self.eid) != Pseudonymizer().pseudonym(of: Self.eid))
    }

    @Test(
        "A line is decoded as it was encoded",
        arguments: [
            .heard(eid, .serviceData, RSSI(dBm: -47)), .heard(eid, .localName, nil),
            .ignored(.tile), .scanning(true), .scanning(false), .lost(12),
        ] as [RecordingLine.Event]
    )
    func roundTrip(event: RecordingLine.Event) throws {
        let line = RecordingLine(time: .microseconds(1_234_567), event: event)
        let data = try JSONEncoder().encode(line)
        #expect(try JSONDecoder().decode(RecordingLine.self, from: data) == line)
    }

    @Test(
        "Text that is not a line of a recording is refused",
        arguments: [
            #"{}"#, #"{"at_us":1}"#, #"{"eid":"a1b2c3d4e5","carrier":"service_data"}"#,
            #"{"at_us":1,"eid":"a1b2c3d4e5"}"#, #"{"at_us":1,"eid":"a1","carrier":"local_name"}"#,
            #"{"at_us":1,"eid":"a1b2c3d4e5","carrier":"local_name","rssi_dbm":127}"#,
            #"{"at_us":1,"ignored":"cat"}"#, #"{"at_us":"1","lost":1}"#, "[]", "nonsense",
        ]
    )
    func refused(text: String) {
        #expect(throws: (any Error).self) {
            try JSONDecoder().decode(RecordingLine.self, from: Data(text.utf8))
        }
    }
}
