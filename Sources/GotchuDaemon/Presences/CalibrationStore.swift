import FoundationEssentials
import GotchuAPI
import GotchuCore
import ServiceProcess
import Synchronization

/// The calibration of each adapter, in memory and in one file of the state folder.
///
/// The key is the adapter's address, if it is known: its number changes when it is plugged in
/// again.
final class CalibrationStore: Sendable {
    /// The maximum number of stored adapters. Beyond it, the one with the oldest measurement is
    /// evicted.
    static let adapterLimit = 16

    private struct Entry: Codable {
        let measuredAt: Timestamp
        let calibration: Calibration
    }

    private let path: String
    private let entries: Mutex<[String: Entry]>
    /// A Boolean that is true if the file could not be read. Then the default levels apply.
    let wasUnreadable: Bool

    init(stateDirectory: String) {
        path = stateDirectory + "/calibration.json"
        guard let data = FileManager.default.contents(atPath: path) else {
            wasUnreadable = false
            entries = Mutex([:])
            return
        }
        let read = (try? JSONDecoder().decode([String: Entry].self, from: data))
            .map { $0.filter { $0.value.calibration.isPlausible } }
        wasUnreadable = read == nil
        entries = Mutex(read ?? [:])
    }

    /// All calibrations, sorted by adapter.
    var views: [CalibrationView] {
        entries.withLock { $0.keys.sorted() }.compactMap { view(of: $0) }
    }

    func view(of adapter: String) -> CalibrationView? {
        entries.withLock { $0[adapter] }.map {
            CalibrationView(
                adapter: adapter,
                measuredAt: $0.measuredAt,
                calibration: $0.calibration
            )
        }
    }

    subscript(adapter: String) -> Calibration? { entries.withLock { $0[adapter]?.calibration } }

    /// Stores a calibration. Returns once it is on disk.
    func set(_ calibration: Calibration, for adapter: String) throws(Problem) {
        var new = entries.withLock(\.self)
        new[adapter] = Entry(measuredAt: .now, calibration: calibration)
        while new.count > Self.adapterLimit,
            let oldest = new.min(by: { $0.value.measuredAt < $1.value.measuredAt })?.key
        {
            new[oldest] = nil
        }
        try write(new)
    }

    func reset() throws(Problem) { try write([:]) }

    private func write(_ new: [String: Entry]) throws(Problem) {
        do throws(DurableFile.Failure) {
            try DurableFile.replace(path, with: JSONEncoder.pretty(new))
        } catch {
            throw Problem(
                .journalUnwritable,
                detail: "The calibration could not be stored: \(error.reason).",
                fix: "df -h"
            )
        }
        entries.withLock { $0 = new }
    }
}
