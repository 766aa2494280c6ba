import BlueZ
import GotchuCore

/// Recognises the kernel's reports, and detects repetitions of ignored ones. Performs no I/O.
///
/// Its memory is fixed, regardless of the number of random addresses.
struct AdvertisementFilter: Sendable {
    /// The number of slots. Each holds one ignored device and the reason; a new entry replaces it.
    private static let ignoredSlots = 1024

    private var ignored = [UInt64](repeating: 0, count: ignoredSlots)

    /// - Returns: The recognition of a report, and true if the report is ours or new. The report of
    ///   an ignored device is new if its slot does not hold the same device and reason.
    mutating func recognise(
        _ report: ManagementReport
    ) -> (recognition: HeardAdvertisement.Recognition, isNew: Bool) {
        let recognition = report.advertisement.recognise()
        return switch recognition {
        case .ours: (recognition, true)
        case .ignored(let reason): (recognition, isNew(report.device, reason))
        }
    }

    private mutating func isNew(_ device: UInt64, _ reason: IgnoredReason) -> Bool {
        let code: UInt64 =
            switch reason {
            case .tile: 1
            case .length: 2
            case .charset: 3
            case .noService: 4
            }
        // Seven bytes of address and type, one of reason.
        let entry = device << 8 | code
        let slot = Int(truncatingIfNeeded: (device &* 0x9E37_79B9_7F4A_7C15) >> 54)
        guard ignored[slot] != entry else { return false }
        ignored[slot] = entry
        return true
    }
}
