package import GotchuCore

/// Frames of the kernel's management socket, as the kernel would send them (BlueZ,
/// doc/mgmt-api.txt).
package enum ManagementFrame {
    /// An advertising field: its length, its type and its value.
    package static func field(_ type: UInt8, _ value: [UInt8]) -> [UInt8] {
        [UInt8(value.count + 1), type] + value
    }

    /// The advertisement of a kiosk: the UUID list and the EID as service data.
    package static func kiosk(_ eid: EID) -> [UInt8] {
        field(0x03, [0xED, 0xFE]) + field(0x16, [0xED, 0xFE] + eid.serviceData)
    }

    /// A DEVICE_FOUND event.
    ///
    /// - Parameter device: The last byte of the sender's address.
    package static func deviceFound(
        _ data: [UInt8],
        rssi: Int8,
        adapter: UInt16 = 0,
        device: UInt8 = 1,
        addressType: UInt8 = 2
    ) -> [UInt8] {
        let fixed: [UInt8] = [
            device, 0x03, 0x02, 0x01, 0x70, 0x5B, addressType, UInt8(bitPattern: rssi), 0, 0, 0, 0,
        ]
        return event(0x0012, adapter, fixed + bytes(UInt16(data.count)) + data)
    }

    /// A CMD_STATUS event for the only command that the listener sends.
    package static func answer(status: UInt8) -> [UInt8] {
        event(0x0002, 0xFFFF, [0x15, 0x00, status])
    }

    package static func event(_ opcode: UInt16, _ adapter: UInt16, _ body: [UInt8]) -> [UInt8] {
        bytes(opcode) + bytes(adapter) + bytes(UInt16(body.count)) + body
    }

    private static func bytes(_ number: UInt16) -> [UInt8] {
        [UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8)]
    }
}
