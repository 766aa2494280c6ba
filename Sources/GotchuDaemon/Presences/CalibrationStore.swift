import FoundationEssentials
import Glibc
import GotchuAPI
import GotchuCore
import Synchronization

/// What was measured with each adapter, in memory and in one file of the state folder.
///
/// Kept by the adapter's address: its number changes when it is plugged in again.
final class CalibrationStore: Sendable {
    /// How many adapters are remembered; the one measured longest ago makes room.
    static let adapterLimit = 16

    private struct Entry: Codable {
        let measuredAt: Timestamp
        let calibration: Calibration
    }

    /// Why it could not be kept. The sentence is the system's.
    struct Failure: Error {
        let reason: String
    }

    private let path: String
    private let entries: Mutex<[String: Entry]>
    /// Whether there was a file that could not be understood, so that the defaults apply.
    let wasUnreadable: Bool

    init(stateDirectory: String) {
        path = stateDirectory + "/calibration.json"
        guard let data = FileManager.default.contents(atPath: path) else {
            wasUnreadable = false
            entries = Mutex([:])
            return
        }
        let read = (try? JSONDecoder().decode([String: Entry].self, from: data))
            .map { $0.filter { $0.value.calibration.isSound } }
        wasUnreadable = read == nil
        entries = Mutex(read ?? [:])
    }

    /// All of them, by adapter.
    var views: [CalibrationView] {
        entries.withLock { $0.keys.sorted() }.compactMap { view(of: $0) }
    }

    /// What was measured with one adapter.
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

    /// Keeps what was measured; it is on disk when this returns.
    func set(_ calibration: Calibration, for adapter: String) throws(Failure) {
        var new = entries.withLock(\.self)
        new[adapter] = Entry(measuredAt: .now, calibration: calibration)
        while new.count > Self.adapterLimit,
            let oldest = new.min(by: { $0.value.measuredAt < $1.value.measuredAt })?.key
        {
            new[oldest] = nil
        }
        try write(new)
    }

    /// Forgets everything.
    func reset() throws(Failure) { try write([:]) }

    /// Writes beside it first, so that the old ones are there until the new ones are whole.
    private func write(_ new: [String: Entry]) throws(Failure) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        guard let data = try? encoder.encode(new) else {
            preconditionFailure("our own types can always be encoded")
        }
        let part = path + ".new"
        let descriptor = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw Failure(reason: String(cString: strerror(errno))) }
        let bytes = [UInt8](data)
        let written = Glibc.write(descriptor, bytes, bytes.count)
        let isWhole = written == bytes.count && fsync(descriptor) == 0
        let code = errno
        close(descriptor)
        guard isWhole, rename(part, path) == 0 else {
            unlink(part)
            throw Failure(reason: String(cString: strerror(code)))
        }
        entries.withLock { $0 = new }
    }
}
