import BlueZ
import GotchuCore
import TestSupport
import Testing

@Suite("Frames of the management socket") struct ManagementEventTests {
    private static let eid = EID(literal: "a1b2c3d4e5")
    private static let serviceUUID = UUID16(0xFEED)

    private func event(_ frame: [UInt8]) -> ManagementEvent {
        ManagementEvent(frame: frame.span, serviceUUID: Self.serviceUUID)
    }

    private func report(_ frame: [UInt8]) -> ManagementReport? {
        if case .heard(let report) = event(frame) { report } else { nil }
    }

    private func advertisement(_ data: [UInt8]) -> HeardAdvertisement {
        HeardAdvertisement(data: data.span, serviceUUID: Self.serviceUUID)
    }

    @Test("A kiosk's report contains the adapter, the level and the EID")
    func kiosk() throws {
        let frame = ManagementFrame.deviceFound(
            ManagementFrame.kiosk(Self.eid),
            rssi: -47,
            adapter: 3
        )
        let heard = try #require(report(frame))
        #expect(heard.adapter == 3 && heard.rssi?.dBm == -47)
        #expect(heard.advertisement.recognise() == .ours(Self.eid, .serviceData))
        #expect(heard.advertisement.listsService)
    }

    @Test(
        "A level that no controller can have measured is dropped",
        arguments: [(127, nil), (-127, -127), (-128, nil)] as [(Int8, Int?)]
    )
    func level(raw: Int8, dBm: Int?) throws {
        let frame = ManagementFrame.deviceFound([], rssi: raw)
        #expect(try #require(report(frame)).rssi?.dBm == dBm)
    }

    @Test("Two reports are of one device only if the address and the address type are equal")
    func device() throws {
        let one = try #require(report(ManagementFrame.deviceFound([], rssi: -50, device: 1)))
        let again = try #require(report(ManagementFrame.deviceFound([], rssi: -51, device: 1)))
        let public_ = try #require(
            report(ManagementFrame.deviceFound([], rssi: -50, device: 1, addressType: 1))
        )
        let two = try #require(report(ManagementFrame.deviceFound([], rssi: -50, device: 2)))
        #expect(one.device == again.device)
        #expect(Set([one.device, public_.device, two.device]).count == 3)
    }

    @Test("An inquiry result of BR/EDR is not an advertisement")
    func classic() {
        #expect(event(ManagementFrame.deviceFound([], rssi: -50, addressType: 0)) == .other)
    }

    @Test("Added and removed adapters, answers and unknown events are recognised")
    func others() {
        #expect(event(ManagementFrame.event(0x0004, 2, [])) == .adapterAdded(2))
        #expect(event(ManagementFrame.event(0x0005, 2, [])) == .adapterRemoved(2))
        #expect(event(ManagementFrame.event(0x7FFF, 0, [1, 2, 3])) == .other)
        let refused = event(ManagementFrame.answer(status: 0x14))
        #expect(refused == .answered(opcode: 0x15, status: 0x14))
        #expect(ManagementSocket.isPermitted(by: refused) == false)
        // The query names no adapter, so a privileged socket gets the answer Invalid Index.
        let permitted = event(ManagementFrame.answer(status: 0x11))
        #expect(ManagementSocket.isPermitted(by: permitted) == true)
        #expect(ManagementSocket.isPermitted(by: .answered(opcode: 1, status: 0)) == nil)
    }

    @Test("Each frame that is too short, too long or inconsistent is malformed")
    func lengths() {
        for frame in [
            ManagementFrame.deviceFound(ManagementFrame.kiosk(Self.eid), rssi: -50),
            ManagementFrame.answer(status: 0),
        ] {
            for count in 0..<frame.count {
                #expect(event(Array(frame.prefix(count))) == .malformed)
            }
            #expect(event(frame + [0]) == .malformed)
        }
        // The headers of these frames are correct. The bodies are too short or contain a wrong
        // length.
        #expect(event(ManagementFrame.event(0x0012, 0, [1, 2, 3])) == .malformed)
        #expect(event(ManagementFrame.event(0x0001, 0, [0x15])) == .malformed)
        var wrongLength = ManagementFrame.deviceFound(ManagementFrame.kiosk(Self.eid), rssi: -50)
        wrongLength[6 + 12] += 1
        #expect(event(wrongLength) == .malformed)
    }

    @Test("Our UUID and its data are found with 16, 32 and 128 bits, and other UUIDs are ignored")
    func widths() {
        let long: [UInt8] =
            [0xFB, 0x34, 0x9B, 0x5F, 0x80, 0x00, 0x00, 0x80, 0x00, 0x10, 0x00, 0x00]
            + [0xED, 0xFE, 0x00, 0x00]
        let forms: [(list: UInt8, data: UInt8, uuid: [UInt8])] = [
            (0x02, 0x16, [0xED, 0xFE]), (0x05, 0x20, [0xED, 0xFE, 0, 0]), (0x07, 0x21, long),
        ]
        for form in forms {
            let heard = advertisement(
                ManagementFrame.field(form.list, form.uuid)
                    + ManagementFrame.field(form.data, form.uuid + Self.eid.serviceData)
            )
            #expect(heard.listsService)
            #expect(heard.serviceData == Self.eid.serviceData)
            // A UUID with one bit changed is another service.
            for place in form.uuid.indices {
                var other = form.uuid
                other[place] ^= 0x01
                let heard = advertisement(
                    ManagementFrame.field(form.list, other)
                        + ManagementFrame.field(form.data, other + Self.eid.serviceData)
                )
                #expect(heard == HeardAdvertisement())
            }
        }
        // The UUID may be any entry of a list. Its bytes across two entries do not count.
        #expect(advertisement([7, 0x03, 1, 2, 0xED, 0xFE, 3, 4]).listsService)
        #expect(!advertisement([4, 0x03, 1, 0xED, 0xFE]).listsService)
    }

    @Test("A name before or after the UUID list is recognised, but not a name without the list")
    func name() {
        let list = ManagementFrame.field(0x03, [0xED, 0xFE])
        let name = ManagementFrame.field(0x09, Array("a1b2c3d4e5".utf8))
        #expect(advertisement(list + name).recognise() == .ours(Self.eid, .localName))
        #expect(advertisement(name + list).recognise() == .ours(Self.eid, .localName))
        #expect(advertisement(name).recognise() == .ignored(.noService))
        let ended = ManagementFrame.field(0x09, Array("a1b2c3d4e5\0\0".utf8))
        #expect(advertisement(list + ended).recognise() == .ours(Self.eid, .localName))
        let invalid = ManagementFrame.field(0x09, [0xFF, 0x31])
        #expect(advertisement(list + invalid).recognise() == .ignored(.length))
    }

    @Test("Data is read up to the first broken field, and the last field of a type is used")
    func broken() {
        let kiosk = ManagementFrame.kiosk(Self.eid)
        let more = ManagementFrame.field(0x16, [0xED, 0xFE, 0x31])
        #expect(advertisement(kiosk + [200, 0x16, 0xED, 0xFE]).serviceData == Self.eid.serviceData)
        #expect(advertisement(kiosk + [0] + more).serviceData == Self.eid.serviceData)
        #expect(advertisement([0] + kiosk) == HeardAdvertisement())
        #expect(advertisement(kiosk + more).serviceData == [0x31])
        #expect(advertisement(ManagementFrame.field(0x16, [0xED, 0xFE])).serviceData == [])
        #expect(advertisement([1, 0x16]) == HeardAdvertisement())
        #expect(advertisement([2, 0x16, 0xED]) == HeardAdvertisement())
    }

    @Test("Random bytes do not crash the parser, and its results have a maximum length")
    func fuzz() {
        var generator = SeededGenerator("management frames")
        let whole = ManagementFrame.deviceFound(ManagementFrame.kiosk(Self.eid), rssi: -50)
        for _ in 0..<20_000 {
            var frame = whole
            switch Int.random(in: 0..<3, using: &generator) {
            case 0:
                frame = (0..<Int.random(in: 0..<64, using: &generator)).map { _ in
                    UInt8.random(in: .min ... .max, using: &generator)
                }
            case 1:
                for _ in 0..<Int.random(in: 1..<5, using: &generator) {
                    let place = Int.random(in: frame.indices, using: &generator)
                    frame[place] = UInt8.random(in: .min ... .max, using: &generator)
                }
            default:
                let data = (0..<Int.random(in: 0..<255, using: &generator)).map { _ in
                    [0, 1, 2, 3, 9, 0x16, 0xED, 0xFE, 0x31].randomElement(using: &generator) ?? 0
                }
                frame = ManagementFrame.deviceFound(data.map { UInt8($0) }, rssi: -50)
            }
            if let report = report(frame) {
                #expect((report.advertisement.serviceData?.count ?? 0) <= 31)
                // Each invalid byte becomes a replacement character, which has three bytes.
                #expect((report.advertisement.localName?.utf8.count ?? 0) <= 3 * 31)
            }
        }
    }
}
