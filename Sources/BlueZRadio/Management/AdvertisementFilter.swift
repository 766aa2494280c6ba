import BlueZ
import GotchuCore

/// Recognises the kernel's reports, and detects the repetitions of strangers. Performs no I/O.
///
/// Its memory is fixed: it does not grow, however many random addresses there are.
struct AdvertisementFilter: Sendable {
    /// The number of slots for the last reason of each stranger; a new entry replaces another.
    private static let strangerSlots = 1024

    private var strangers = [UInt64](repeating: 0, count: strangerSlots)

    /// - Returns: The recognition of a report, and true if it is ours or new: a stranger is counted
    ///   once for each reason, as over D-Bus.
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
        let said: UInt64 =
            switch reason {
            case .tile: 1
            case .length: 2
            case .charset: 3
            case .noService: 4
            }
        // Seven bytes of address and type, one of reason.
        let entry = device << 8 | said
        let slot = Int(truncatingIfNeeded: (device &* 0x9E37_79B9_7F4A_7C15) >> 54)
        guard strangers[slot] != entry else { return false }
        strangers[slot] = entry
        return true
    }
}
