import BlueZ
import GotchuCore

/// Finds what counts among the kernel's reports: pure.
///
/// All memory is fixed: however many random addresses are about, nothing grows.
struct ManagementEar: Sendable {
    /// What a report comes to.
    enum Heard: Sendable {
        /// One of ours.
        case ours(EID, Sighting.Carrier)
        /// A stranger who says something new.
        case stranger(StrangerReason)
        /// A stranger who says the same again.
        case knownStranger
    }

    /// Places for what strangers said last; a new one takes the place of another.
    private static let strangerSlots = 1024

    private var strangers = [UInt64](repeating: 0, count: strangerSlots)

    /// Takes one report.
    mutating func hear(_ report: ManagementReport) -> Heard {
        switch report.advertisement.recognise() {
        case .ours(let eid, let carrier): .ours(eid, carrier)
        // Once for each thing that a device says, as over D-Bus.
        case .stranger(let reason):
            isNews(report.device, reason) ? .stranger(reason) : .knownStranger
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
