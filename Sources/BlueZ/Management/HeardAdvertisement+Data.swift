package import GotchuCore

/// The format of advertising data: fields of a length, a type and a value (Core Specification, Vol
/// 3 Part C 11; types from Assigned Numbers 2.3).
extension HeardAdvertisement {
    private enum FieldType {
        static let incompleteUUIDs16: UInt8 = 0x02
        static let completeUUIDs16: UInt8 = 0x03
        static let incompleteUUIDs32: UInt8 = 0x04
        static let completeUUIDs32: UInt8 = 0x05
        static let incompleteUUIDs128: UInt8 = 0x06
        static let completeUUIDs128: UInt8 = 0x07
        static let shortenedName: UInt8 = 0x08
        static let completeName: UInt8 = 0x09
        static let serviceData16: UInt8 = 0x16
        static let serviceData32: UInt8 = 0x20
        static let serviceData128: UInt8 = 0x21
    }

    /// The size of a legacy advertisement's data, in bytes; a longer value is not ours.
    private static let valueLimit = 31

    /// Reads the data about our service as BlueZ does (src/eir.c): a field of length zero, or one
    /// longer than the remaining data, ends the reading. If a name or our service data occurs
    /// twice, the last one counts.
    ///
    /// - Parameter data: The advertisement, followed by its scan response if there was one.
    package init(data: Span<UInt8>, serviceUUID: UUID16) {
        self.init()
        var start = 0
        while start < data.count {
            let length = Int(data[start])
            guard length > 0, start + length < data.count else { return }
            let value = data.extracting((start + 2)..<(start + 1 + length))
            apply(data[start + 1], value, serviceUUID)
            start += 1 + length
        }
    }

    private mutating func apply(_ type: UInt8, _ value: Span<UInt8>, _ service: UUID16) {
        switch type {
        case FieldType.incompleteUUIDs16, FieldType.completeUUIDs16: list(value, width: 2, service)
        case FieldType.incompleteUUIDs32, FieldType.completeUUIDs32: list(value, width: 4, service)
        case FieldType.incompleteUUIDs128, FieldType.completeUUIDs128:
            list(value, width: 16, service)
        case FieldType.shortenedName, FieldType.completeName: applyName(value)
        case FieldType.serviceData16: applyData(value, width: 2, service)
        case FieldType.serviceData32: applyData(value, width: 4, service)
        case FieldType.serviceData128: applyData(value, width: 16, service)
        default: break
        }
    }

    private mutating func list(_ value: Span<UInt8>, width: Int, _ service: UUID16) {
        var start = 0
        while start + width <= value.count {
            if service.isAt(start, of: value, width: width) { listsService = true }
            start += width
        }
    }

    private mutating func applyData(_ value: Span<UInt8>, width: Int, _ service: UUID16) {
        guard value.count >= width, service.isAt(0, of: value, width: width) else { return }
        let end = min(value.count, width + Self.valueLimit)
        serviceData = (width..<end).map { value[$0] }
    }

    private mutating func applyName(_ value: Span<UInt8>) {
        var end = value.count
        // Some vendors terminate a name with zero bytes.
        while end > 0, value[end - 1] == 0 { end -= 1 }
        localName =
            end <= Self.valueLimit
            ? String(decoding: (0..<end).map { value[$0] }, as: UTF8.self) : nil
    }
}

extension UUID16 {
    /// The Bluetooth base UUID, little-endian, without the 32 bits that precede it in text form
    /// (Core Specification, Vol 3 Part B 2.5.1).
    private static let base: [UInt8] = [
        0xFB, 0x34, 0x9B, 0x5F, 0x80, 0x00, 0x00, 0x80, 0x00, 0x10, 0x00, 0x00,
    ]

    /// Returns true if this UUID is at an offset, in its 2-, 4- or 16-byte form, little-endian.
    fileprivate func isAt(_ start: Int, of bytes: Span<UInt8>, width: Int) -> Bool {
        let short = width == 16 ? start + Self.base.count : start
        guard bytes[short] == UInt8(truncatingIfNeeded: number),
            bytes[short + 1] == UInt8(truncatingIfNeeded: number >> 8)
        else { return false }
        guard width > 2 else { return true }
        guard bytes[short + 2] == 0, bytes[short + 3] == 0 else { return false }
        return width == 4 || Self.base.indices.allSatisfy { bytes[start + $0] == Self.base[$0] }
    }
}
