import GotchuCore
import Ledger
import TestSupport
import Testing

@testable import Devices

@Suite("A device's credential")
struct DeviceTests {
    private static let family = [UInt8](repeating: 9, count: 32)
    private static let start = Timestamp(milliseconds: 1_800_000_000_000)

    private func secret(_ number: UInt8) -> [UInt8] { [UInt8](repeating: number, count: 32) }

    private func device() -> Device {
        Device(
            id: .make(),
            user: .make(),
            name: "till",
            scopes: "payee",
            createdAt: Self.start,
            family: Self.family,
            current: secret(1),
            expiresAt: Self.start.advanced(by: Device.enrolment)
        )
    }

    private func show(
        _ shown: UInt8,
        next: UInt8,
        to device: inout Device,
        family: [UInt8] = Self.family,
        number: Int64? = nil,
        isCode: Bool = false,
        hasNonce: Bool = false,
        after: Duration = .seconds(1)
    ) -> Device.Admission {
        device.admit(
            family: family,
            secret: secret(shown),
            number: number,
            isCode: isCode,
            successor: secret(next),
            hasNonce: hasNonce,
            at: Self.start.advanced(by: after)
        )
    }

    @Test("Each use of a credential exchanges the credential for a new one")
    func rotation() {
        var device = device()
        for number in 1..<20 as Range<UInt8> {
            #expect(show(number, next: number + 1, to: &device) == .admitted)
        }
        #expect(device.current == secret(20) && device.revokedAt == nil)
    }

    @Test("A credential may be used again until the reply to one of its uses arrives")
    func lostReply() {
        var device = device()
        #expect(show(1, next: 2, to: &device) == .admitted)
        #expect(show(1, next: 3, to: &device) == .admitted)
        #expect(show(1, next: 4, to: &device) == .admitted)
        #expect(show(4, next: 5, to: &device) == .admitted)
    }

    @Test("A credential is exchanged once, even if its request arrives several times and late")
    func repeats() {
        var random = SeededGenerator("A device's exchanges, repeated and late")
        var device = device()
        func exchange(_ held: UInt8, atMost times: Int) -> [Device.Admission] {
            (0..<Int.random(in: 0...times, using: &random)).map { _ in
                show(held, next: held + 1, to: &device, hasNonce: true)
            }
        }
        for held in 1..<200 as Range<UInt8> {
            #expect(show(held, next: held + 1, to: &device, hasNonce: true) == .admitted)
            for _ in 0..<3 {
                #expect(exchange(held, atMost: 3).allSatisfy { $0 == .admitted })
                for age in 1..<min(held, UInt8(Device.previousSecretLimit) + 1) {
                    #expect(exchange(held - age, atMost: 1).allSatisfy { $0 == .refused })
                }
            }
            #expect(device.current == secret(held + 1) && device.generation == Int64(held))
            #expect(device.previous.count == min(Int(held), Device.previousSecretLimit))
        }
        // A credential that is older than all remembered credentials counts as a copy.
        let forgotten = 198 - UInt8(Device.previousSecretLimit)
        #expect(show(forgotten, next: forgotten + 1, to: &device, hasNonce: true) == .revoked)
    }

    @Test("A credential that is used after its successor revokes the device for all holders")
    func reuse() {
        var device = device()
        #expect(show(1, next: 2, to: &device) == .admitted)
        #expect(show(2, next: 3, to: &device) == .admitted)
        #expect(show(1, next: 4, to: &device) == .revoked)
        #expect(device.revocation == .byReuse)
        #expect(show(3, next: 5, to: &device) == .revoked)
    }

    @Test("A used code is refused at any time, except a repeat of its own exchange")
    func code() {
        var device = device()
        #expect(show(9, next: 2, to: &device, isCode: true, hasNonce: true) == .refused)
        #expect(show(1, next: 2, to: &device, isCode: true, hasNonce: true) == .admitted)
        let before = device
        #expect(show(1, next: 2, to: &device, isCode: true, hasNonce: true) == .admitted)
        #expect(show(1, next: 2, to: &device, isCode: true) == .codeUsed)
        #expect(show(1, next: 3, to: &device, isCode: true, hasNonce: true) == .codeUsed)
        #expect(device == before)
        for number in 2..<99 as Range<UInt8> {
            #expect(show(number, next: number + 1, to: &device, hasNonce: true) == .admitted)
            let exchanged = device
            #expect(show(1, next: 2, to: &device, isCode: true, hasNonce: true) == .codeUsed)
            #expect(show(1, next: 200, to: &device, isCode: true, hasNonce: true) == .codeUsed)
            #expect(device == exchanged)
        }
    }

    @Test("The last access token's end only moves forward")
    func tokens() {
        var device = device()
        #expect(device.tokenEndsAt == nil)
        for (end, latest) in [(5, 5), (9, 9), (7, 9)] as [(Int64, Int64)] {
            device.recordToken(until: Timestamp(milliseconds: end))
            #expect(device.tokenEndsAt == Timestamp(milliseconds: latest))
        }
    }

    @Test("A thief who uses a copy first is detected when the owner uses the credential")
    func theft() {
        var device = device()
        #expect(show(1, next: 2, to: &device) == .admitted)
        // The thief exchanges a copy of secret 1 for secret 66. The owner holds secret 2.
        #expect(show(1, next: 66, to: &device) == .admitted)
        #expect(show(2, next: 3, to: &device) == .revoked)
        #expect(show(66, next: 67, to: &device) == .revoked)
    }

    @Test("A genuine credential that is newer than the restored database is valid")
    func restored() {
        var device = device()
        #expect(show(1, next: 2, to: &device) == .admitted)
        let backup = device
        for number in 2..<9 as Range<UInt8> {
            #expect(show(number, next: number + 1, to: &device) == .admitted)
        }
        #expect(device.generation == 8)
        var back = backup
        #expect(show(9, next: 10, to: &back, number: 8) == .admitted)
        #expect(back.generation == 9)
        // The reply was lost, so secret 9 is used again. Later a copy of secret 5 is used.
        #expect(show(9, next: 11, to: &back, number: 8) == .admitted)
        #expect(show(11, next: 12, to: &back, number: 10) == .admitted)
        #expect(show(5, next: 6, to: &back, number: 4) == .revoked)
        // Without a number from the server the credential counts as a copy.
        var other = backup
        #expect(show(9, next: 10, to: &other) == .revoked)
    }

    @Test("A guessed credential does not revoke another user's device")
    func guess() {
        var device = device()
        let before = device
        #expect(show(1, next: 2, to: &device, family: secret(8)) == .refused)
        #expect(device == before)
    }

    @Test("An unused enrolment code expires after a day, an unused credential after 180 days")
    func ends() {
        var late = device()
        #expect(show(1, next: 2, to: &late, after: Device.enrolment) == .refused)
        var used = device()
        #expect(show(1, next: 2, to: &used) == .admitted)
        #expect(show(2, next: 3, to: &used, after: .seconds(170 * 86_400)) == .admitted)
        #expect(show(3, next: 4, to: &used, after: .seconds(351 * 86_400)) == .refused)
    }

    @Test("A new enrolment of a device makes its old credential invalid")
    func anew() {
        var device = device()
        #expect(show(1, next: 2, to: &device) == .admitted)
        device.revoke(.byOperator, at: Self.start)
        #expect(show(2, next: 3, to: &device) == .revoked)
        device.enrol(family: secret(7), current: secret(1), at: Self.start)
        #expect(show(2, next: 3, to: &device) == .refused)
        #expect(device.revokedAt == nil)
        #expect(show(1, next: 2, to: &device, family: secret(7)) == .admitted)
    }
}
