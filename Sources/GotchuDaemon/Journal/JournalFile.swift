import FoundationEssentials
import Glibc
import ServiceProcess

/// The journal on disk: append-only and synced, with one line per record. All calls block.
struct JournalFile: ~Copyable {
    /// The maximum number of lines. If the journal has more, the next write first reduces it to the
    /// retained records.
    static let lineLimit = 2000
    private static let name = "journal"
    /// The number of bytes that a check writes. It is more than the longest record.
    private static let checkLength = 32 * 1024
    /// The free bytes from which a write is assumed to fit. A payment takes a few hundred.
    private static let enoughSpace: UInt = 1024 * 1024

    /// The maximum number of bytes of an incomplete line that are copied to a file beside the
    /// journal.
    private static let keptLength = 64 * 1024

    /// The records that the journal held when it was opened.
    let contentsAtStart: JournalContents
    /// True if the start removed an incomplete last line, which has no line feed. A crash before
    /// the sync leaves such a line. Nothing was sent because of it.
    let wasTorn: Bool

    private let folder: String
    private let lock: Int32
    private var descriptor: Int32
    private var contents: JournalContents
    /// The length of the file up to its last complete record. An incomplete write may follow.
    private var length: Int
    /// True if an incomplete write may follow the last complete record on disk.
    private var hasIncompleteWrite = false

    /// Opens the journal of a state folder. Creates it if it is missing.
    init(folder: String) throws(JournalFailure) {
        let lock = try Self.takeLock(folder)
        let opened: (contents: JournalContents, length: Int, wasTorn: Bool, descriptor: Int32)
        do throws(JournalFailure) {
            opened = try Self.open(path: "\(folder)/\(Self.name)", in: folder)
        } catch {
            close(lock)
            throw error
        }
        contentsAtStart = opened.contents
        contents = opened.contents
        self.folder = folder
        wasTorn = opened.wasTorn
        descriptor = opened.descriptor
        self.lock = lock
        length = opened.length
    }

    deinit {
        close(descriptor)
        close(lock)
    }

    /// Writes one record and returns when it is on disk. The record must be decodable.
    ///
    /// If a write fails, the file is truncated to its old length: a record is complete or absent.
    /// If the truncation fails too, no record is written until it succeeds.
    ///
    /// - Throws: `uncertain` if the truncation failed too: the next start may read the record.
    mutating func append(_ record: JournalRecord) throws(JournalFailure) {
        try requireFile()
        if hasIncompleteWrite { try truncateIncompleteWrite() }
        if contents.lineCount > Self.lineLimit { try compact() }
        let line = JournalLine.encode(record)
        // A line that cannot be decoded would prevent the next start. Then no open payment would be
        // driven.
        guard case .record = JournalLine.decode(line.dropLast()) else { throw .unreadable }
        var written = 0
        do throws(JournalFailure) {
            while written < line.count {
                written += try Self.call("write") {
                    line[written...].withUnsafeBytes {
                        pwrite(descriptor, $0.baseAddress, $0.count, length + written)
                    }
                }
            }
            try Self.call("sync") { fdatasync(descriptor) }
        } catch {
            if written > 0 { try undo(error) }
            throw error
        }
        length += line.count
        contents.add(record)
    }

    /// Checks that the file is there, and the free space. If that does not prove that the next
    /// write fits, writes and syncs a file of its size beside the journal.
    ///
    /// - Parameter isUncertain: True to write the file even if there is enough free space.
    mutating func check(isUncertain: Bool) throws(JournalFailure) {
        try requireFile()
        if hasIncompleteWrite { try truncateIncompleteWrite() }
        var disk = statvfs()
        let isRoomy =
            statvfs(folder, &disk) == 0 && disk.f_flag & UInt(ST_RDONLY) == 0
            && disk.f_bavail >= (Self.enoughSpace + UInt(length)) / max(1, disk.f_frsize)
        guard isUncertain || !isRoomy else { return }
        // The next write may first have to write the retained records anew.
        let isNextCompacting = contents.lineCount > Self.lineLimit
        let records = isNextCompacting ? contents.retainedRecords.flatMap(JournalLine.encode) : []
        let path = "\(folder)/check"
        let descriptor = try Self.call("open") {
            Glibc.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        }
        defer {
            close(descriptor)
            unlink(path)
        }
        let bytes = [UInt8](repeating: 0, count: Self.checkLength + records.count)
        let written = try Self.call("write") { pwrite(descriptor, bytes, bytes.count, 0) }
        guard written == bytes.count else {
            throw .system(operation: "write", reason: String(cString: strerror(ENOSPC)))
        }
        try Self.call("sync") { fdatasync(descriptor) }
    }

    /// Refuses a journal whose file was removed or replaced: what is written then is gone when this
    /// process ends.
    private func requireFile() throws(JournalFailure) {
        let path = "\(folder)/\(Self.name)"
        var (own, named) = (stat(), stat())
        guard fstat(descriptor, &own) == 0, lstat(path, &named) == 0,
            own.st_dev == named.st_dev, own.st_ino == named.st_ino
        else { throw .removed(file: path) }
    }

    /// Undoes a write that failed.
    private mutating func undo(_ failure: JournalFailure) throws(JournalFailure) {
        hasIncompleteWrite = true
        do throws(JournalFailure) {
            try truncateIncompleteWrite()
        } catch {
            guard case .system(let operation, let reason) = failure else { throw failure }
            throw .uncertain(operation: operation, reason: reason)
        }
    }

    private mutating func truncateIncompleteWrite() throws(JournalFailure) {
        try Self.call("truncate") { ftruncate(descriptor, length) }
        try Self.call("sync") { fdatasync(descriptor) }
        hasIncompleteWrite = false
    }

    /// Rewrites the journal with the retained records only. This limits its size.
    private mutating func compact() throws(JournalFailure) {
        let path = "\(folder)/\(Self.name)"
        let bytes = contents.retainedRecords.flatMap(JournalLine.encode)
        try Self.durably { () throws(DurableFile.Failure) in
            try DurableFile.replace(path, with: bytes)
        }
        let fresh = try Self.call("open") { Glibc.open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW) }
        close(descriptor)
        descriptor = fresh
        length = bytes.count
        var kept = JournalContents()
        for record in contents.retainedRecords { kept.add(record) }
        contents = kept
    }

    private static func open(
        path: String,
        in folder: String
    ) throws(JournalFailure) -> (JournalContents, Int, wasTorn: Bool, Int32) {
        var (contents, length, wasTorn) = try read(path)
        let descriptor = try call("open") {
            Glibc.open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        }
        do throws(JournalFailure) {
            try call("truncate") { ftruncate(descriptor, length) }
            if lacksFinalLineFeed(path) {
                try call("write") { pwrite(descriptor, "\n", 1, length) }
                length += 1
            }
            try call("sync") { fsync(descriptor) }
            try durably { () throws(DurableFile.Failure) in
                try DurableFile.syncFolder(of: path)
            }
        } catch {
            close(descriptor)
            throw error
        }
        return (contents, length, wasTorn, descriptor)
    }

    /// Returns true if the last record has no line feed.
    private static func lacksFinalLineFeed(_ path: String) -> Bool {
        let last = FileManager.default.contents(atPath: path)?.last
        return last.map { $0 != UInt8(ascii: "\n") } ?? false
    }

    private static func read(
        _ path: String
    ) throws(JournalFailure) -> (JournalContents, Int, wasTorn: Bool) {
        if access(path, R_OK) != 0 {
            let code = errno
            // Only a missing file counts as empty. If another error counted as empty, all open
            // payments would be lost.
            if code == ENOENT { return (JournalContents(), 0, false) }
            throw .system(operation: "read", reason: String(cString: strerror(code)))
        }
        guard let data = FileManager.default.contents(atPath: path) else {
            throw .system(operation: "read", reason: String(cString: strerror(EIO)))
        }
        var contents = JournalContents()
        var start = data.startIndex
        while start < data.endIndex {
            guard let end = data[start...].firstIndex(of: UInt8(ascii: "\n")) else {
                let torn = data[start...]
                if case .record(let record) = JournalLine.decode(torn) {
                    // Only the line feed is missing. The safe choice is to treat the record as
                    // written.
                    contents.add(record)
                    return (contents, data.count, false)
                }
                if JournalLine.holdsRecord(torn) {
                    throw .corrupt(file: path, line: contents.lineCount + 1)
                }
                copy(torn, beside: path)
                return (contents, start - data.startIndex, true)
            }
            switch JournalLine.decode(data[start..<end]) {
            case .record(let record): contents.add(record)
            // This applies to the last line too: it is complete, and its operation may have been
            // sent.
            case .foreign: throw .foreign(file: path, line: contents.lineCount + 1)
            case .damaged: throw .corrupt(file: path, line: contents.lineCount + 1)
            }
            start = data.index(after: end)
        }
        return (contents, data.count, false)
    }

    /// Copies the removed part to a file, for an examination. Ignores a failure.
    private static func copy(_ torn: Data, beside path: String) {
        try? DurableFile.replace("\(path).torn", with: Array(torn.prefix(keptLength)))
    }

    private static func takeLock(_ folder: String) throws(JournalFailure) -> Int32 {
        let lock = try call("open \(folder)/lock") {
            Glibc.open("\(folder)/lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            close(lock)
            throw .inUse(folder: folder)
        }
        return lock
    }

    private static func durably<Result>(
        _ body: () throws(DurableFile.Failure) -> Result
    ) throws(JournalFailure) -> Result {
        do throws(DurableFile.Failure) {
            return try body()
        } catch {
            throw .system(operation: error.operation, reason: error.reason)
        }
    }

    @discardableResult
    private static func call<Result: BinaryInteger>(
        _ operation: String,
        _ body: () -> Result
    ) throws(JournalFailure) -> Result {
        try durably { () throws(DurableFile.Failure) in try DurableFile.call(operation, body) }
    }
}
