import CBluetooth
package import GotchuCore

/// A frame of the kernel's management socket, reduced to the data that a listener needs.
package enum ManagementEvent: Equatable, Sendable {
    /// An advertisement was heard while any program scans.
    case heard(ManagementReport)
    /// An adapter was added (`hciN` has the index N).
    case adapterAdded(UInt16)
    case adapterRemoved(UInt16)
    /// The kernel's reply to a command.
    case answered(opcode: UInt16, status: UInt8)
    /// Another event, which is ignored.
    case other
    /// A frame that violates the protocol; dropped.
    case malformed

    /// The size of the read buffer, in bytes. Reports are far shorter.
    package static let frameLimit = 4096

    /// Parses one frame, which is one packet of the socket. Never fails: frames that cannot be
    /// parsed are `other` or `malformed`.
    package init(frame: Span<UInt8>, serviceUUID: UUID16) {
        let header = MemoryLayout<mgmt_hdr>.size
        guard frame.count >= header, Int(frame.littleEndian(at: 4)) == frame.count - header else {
            self = .malformed
            return
        }
        let index = frame.littleEndian(at: 2)
        let body = frame.extracting(header..<frame.count)
        switch Int32(frame.littleEndian(at: 0)) {
        case MGMT_EV_DEVICE_FOUND:
            self = Self.heard(index, body, serviceUUID)
        case MGMT_EV_INDEX_ADDED: self = .adapterAdded(index)
        case MGMT_EV_INDEX_REMOVED: self = .adapterRemoved(index)
        case MGMT_EV_CMD_COMPLETE, MGMT_EV_CMD_STATUS:
            // Both begin with the command's opcode and a status.
            guard body.count >= MemoryLayout<mgmt_ev_cmd_status>.size else {
                self = .malformed
                return
            }
            self = .answered(opcode: body.littleEndian(at: 0), status: body[2])
        default: self = .other
        }
    }

    private static func heard(
        _ index: UInt16,
        _ body: Span<UInt8>,
        _ serviceUUID: UUID16
    ) -> ManagementEvent {
        // The address's 6 bytes and type, the level, four bytes of flags, the data's length.
        let fixed = MemoryLayout<mgmt_ev_device_found>.size
        guard body.count >= fixed, Int(body.littleEndian(at: 12)) == body.count - fixed else {
            return .malformed
        }
        // BR/EDR inquiry results are not advertisements.
        guard body[6] != 0 else { return .other }
        let address = (0..<7).reduce(0 as UInt64) { $0 << 8 | UInt64(body[$1]) }
        return .heard(
            ManagementReport(
                adapter: index,
                device: address,
                advertisement: HeardAdvertisement(
                    data: body.extracting(fixed..<body.count),
                    serviceUUID: serviceUUID
                ),
                rssi: RSSI(dBm: Int(Int8(bitPattern: body[7])))
            )
        )
    }
}

/// An advertisement as the kernel reported it.
package struct ManagementReport: Equatable, Sendable {
    /// The index N of `hciN`.
    package var adapter: UInt16
    /// The sender's address and its type, used only to distinguish devices.
    package var device: UInt64
    package var advertisement: HeardAdvertisement
    /// The level; `nil` if the controller did not measure it.
    package var rssi: RSSI?
}

extension Span<UInt8> {
    fileprivate func littleEndian(at offset: Int) -> UInt16 {
        UInt16(self[offset]) | UInt16(self[offset + 1]) << 8
    }
}
