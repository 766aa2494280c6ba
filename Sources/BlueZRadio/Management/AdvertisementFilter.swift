import BlueZ
import GotchuCore

/// Recognises the kernel's reports, and drops what a stranger repeats: pure.
///
/// All memory is fixed: however many random addresses are about, nothing grows.
struct AdvertisementFilter: Sendable {
    /// Slots for the last words of strangers; a new one takes the place of another.
    private static let strangerSlots = 1024

    private var strangers = [UInt64](repeating: 0, count: strangerSlots)

    /// - Returns: The result of a report, and for a stranger whether it says something new: each is
    ///   counted once for each thing that it says, as over D-Bus.
    mutating func recognise(
        _ report: ManagementReport
    ) -> (recognition: HeardAdvertisement.Recognition, isNews: Bool) {
        let recognition = report.advertisement.recognise()
        return switch recognition {
        case .ours: (recognition, true)
        case .stranger(let reason): (recognition, isNews(report.device, reason))
        }
    }

    private mutating func isNews(_ device: UInt64, _ reason: StrangerReason) -> Bool {
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
