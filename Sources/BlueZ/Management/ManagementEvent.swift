import CBluetooth
package import GotchuCore

/// One frame of the kernel's management socket, as far as it concerns a listener.
package enum ManagementEvent: Equatable, Sendable {
    /// An advertisement was heard while anybody scans.
    case heard(ManagementReport)
    /// An adapter came (`hciN` has the index N).
    case adapterAdded(UInt16)
    case adapterRemoved(UInt16)
    /// The kernel's answer to a command.
    case answered(opcode: UInt16, status: UInt8)
    /// Something else, which is none of ours.
    case other
    /// Not as the protocol says; dropped.
    case malformed

    /// The most that one frame can have: a header and a length of 16 bits. Reports are far shorter.
    package static let frameLimit = 4096

    /// Reads one frame, which is one packet of the socket. Never fails: what is not understood is
    /// `other` or `malformed`.
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

/// One advertisement as the kernel heard it.
package struct ManagementReport: Equatable, Sendable {
    /// N of `hciN`.
    package var adapter: UInt16
    /// The sender's address and its type, to tell one device from another and for nothing else.
    package var device: UInt64
    package var advertisement: HeardAdvertisement
    /// `nil` if the controller did not measure it.
    package var rssi: RSSI?
}

extension Span<UInt8> {
    fileprivate func littleEndian(at offset: Int) -> UInt16 {
        UInt16(self[offset]) | UInt16(self[offset + 1]) << 8
    }
}
