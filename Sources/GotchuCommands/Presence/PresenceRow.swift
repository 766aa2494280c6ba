import GotchuAPI
import GotchuCore

/// Renders a presence as a row of the live table, or as a line for a pipe.
enum PresenceRow {
    /// The levels at the two ends of a signal bar, in dBm.
    private static let barRange = -100.0 ... -30.0
    private static let barColumns = 8

    static let columns: [Table.Column] = [
        Table.Column(title: "EID"),
        Table.Column(title: "VERDICT"),
        Table.Column(title: "SIGNAL", dropPriority: 3),
        Table.Column(title: "dBm", isRightAligned: true, dropPriority: 1),
        Table.Column(title: "AGE", isRightAligned: true, dropPriority: 4),
        Table.Column(title: "AMOUNT", isRightAligned: true),
        Table.Column(title: "PAYEE", minimumWidth: 8, dropPriority: 2),
    ]

    static func cells(_ presence: PresenceView, now: Timestamp) -> [Table.Cell] {
        let verdict = presence.verdict
        return [
            Table.Cell(presence.eid.description),
            Table.Cell(verdict.rawValue, verdict.style),
            Table.Cell(bar(presence.level).padding(to: barColumns), verdict.style),
            Table.Cell(presence.rssiDBm.map(String.init) ?? "?"),
            Table.Cell(presence.lastHeardAt.duration(to: now).tookText, .dim),
            Table.Cell(presence.session?.amount.description ?? "", .bold),
            Table.Cell(presence.session?.payee.shortened ?? ""),
        ]
    }

    /// A line for a pipe, such as `09:30:05 a1b2c3d4e5 tap -41 dBm $50.00 Corner Shop`.
    static func line(_ presence: PresenceView, now: Timestamp) -> String {
        [
            now.clockText, presence.eid.description, presence.verdict.rawValue,
            presence.rssiDBm.map { "\($0) dBm" } ?? "? dBm",
            presence.session?.amount.description, presence.session?.payee.shortened,
        ].compactMap { $0 }.joined(separator: " ")
    }

    /// The verdict's reason, with the lead, the rate, the carrier and the adapter.
    static func explanation(_ presence: PresenceView) -> String {
        // The reasons of the other verdicts already state the lead.
        let lead = presence.verdict == .far ? presence.marginDB : nil
        let margin = lead.map {
            $0 < 0 ? "behind by \(oneDecimal(-$0)) dB" : "leads by \(oneDecimal($0)) dB"
        }
        return [
            presence.reason.printable,
            margin,
            "\(oneDecimal(presence.rateHz)) adverts/s",
            "in \(presence.carrier.words)",
            "by \(presence.adapter.printable)",
        ].compactMap { $0 }.joined(separator: " · ")
    }

    static func bar(_ level: Double) -> String {
        guard level.isFinite else { return "" }
        let clamped = min(max(level, barRange.lowerBound), barRange.upperBound)
        let share = (clamped - barRange.lowerBound) / (barRange.upperBound - barRange.lowerBound)
        let eighths = Int((share * Double(barColumns * 8)).rounded())
        let blocks = Array("▏▎▍▌▋▊▉")
        let full = String(repeating: "█", count: eighths / 8)
        return eighths % 8 == 0 ? full : full + String(blocks[eighths % 8 - 1])
    }

    private static func oneDecimal(_ number: Double) -> String {
        let tenths = Int((number * 10).rounded())
        return "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
    }
}

extension Sighting.Carrier {
    fileprivate var words: String {
        switch self {
        case .serviceData: "service data"
        case .localName: "a local name"
        }
    }
}
