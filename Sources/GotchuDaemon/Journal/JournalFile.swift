import FoundationEssentials
import Glibc

/// The journal on disk: appended to and synced, one line a record. All calls block.
struct JournalFile: ~Copyable {
    /// A journal with more lines than this is rewritten with what is worth keeping.
    static let lineLimit = 2000
    private static let name = "journal"

    /// What it held when it was opened.
    let contentsAtStart: JournalContents
    /// Whether a torn last line was cut off then. A crash leaves one when it comes before the sync:
    /// what the line would have announced never left.
    let wasTorn: Bool

    private let folder: String
    private let lock: Int32
    private var descriptor: Int32
    private var contents: JournalContents
    /// Where the last whole record ends; what lies behind it is a torn write.
    private var length: Int
    /// Whether something may lie behind it on the disk.
    private var hasRemains = false

    /// Opens the journal of a state folder, making both if they are not there.
    init(folder: String) throws(JournalFailure) {
        try Self.makeFolder(folder)
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

    /// Writes one record and returns when it is on the disk.
    ///
    /// If anything fails the file is cut back to what it was: a record is there whole or not at
    /// all. While even that fails nothing more is written, for what was refused could come back.
    mutating func append(_ record: JournalRecord) throws(JournalFailure) {
        if hasRemains { try cutBack() }
        if contents.lineCount > Self.lineLimit { try shrink() }
        let line = JournalLine.encode(record)
        do throws(JournalFailure) {
            var written = 0
            while written < line.count {
                written += try Self.call("write") {
                    line[written...].withUnsafeBytes {
                        Int32(pwrite(descriptor, $0.baseAddress, $0.count, length + written))
                    }
                }.asInt
            }
            try Self.call("sync") { fdatasync(descriptor) }
        } catch {
            hasRemains = true
            try? cutBack()
            throw error
        }
        length += line.count
        contents.add(record)
    }

    private mutating func cutBack() throws(JournalFailure) {
        try Self.call("truncate") { ftruncate(descriptor, length) }
        try Self.call("sync") { fdatasync(descriptor) }
        hasRemains = false
    }

    /// Starts anew with what is worth keeping, so that a year in a shop does not fill the disk.
    private mutating func shrink() throws(JournalFailure) {
        let path = "\(folder)/\(Self.name)"
        let bytes = contents.worthKeeping.flatMap(JournalLine.encode)
        try Self.durably { () throws(DurableFile.Failure) in
            try DurableFile.replace(path, with: bytes)
        }
        let fresh = try Self.call("open") { Glibc.open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW) }
        close(descriptor)
        descriptor = fresh
        length = bytes.count
        var kept = JournalContents()
        for record in contents.worthKeeping { kept.add(record) }
        contents = kept
    }

    private static func open(
        path: String,
        in folder: String
    ) throws(JournalFailure) -> (JournalContents, Int, wasTorn: Bool, Int32) {
        let (contents, length, wasTorn) = try read(path)
        let descriptor = try call("open") {
            Glibc.open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        }
        do throws(JournalFailure) {
            try call("truncate") { ftruncate(descriptor, length) }
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

    private static func read(
        _ path: String
    ) throws(JournalFailure) -> (JournalContents, Int, wasTorn: Bool) {
        if access(path, R_OK) != 0 {
            let code = errno
            // Only then: an error taken for an empty journal would end every open payment.
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
                return (contents, start - data.startIndex, true)
            }
            let next = data.index(after: end)
            switch JournalLine.decode(data[start..<end]) {
            case .record(let record): contents.add(record)
            // Also as the last line: it was written whole, so what it announces may have left.
            case .foreign: throw .foreign(file: path, line: contents.lineCount + 1)
            case .damaged:
                guard next == data.endIndex else {
                    throw .corrupt(file: path, line: contents.lineCount + 1)
                }
                return (contents, start - data.startIndex, true)
            }
            start = next
        }
        return (contents, data.count, false)
    }

    private static func makeFolder(_ folder: String) throws(JournalFailure) {
        if mkdir(folder, 0o700) == 0 || errno == EEXIST { return }
        guard errno == ENOENT else {
            throw .system(operation: "mkdir \(folder)", reason: String(cString: strerror(errno)))
        }
        do {
            try FileManager.default.createDirectory(
                atPath: folder,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        } catch {
            throw .system(operation: "mkdir \(folder)", reason: "it could not be made")
        }
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

    private static func durably(
        _ body: () throws(DurableFile.Failure) -> Void
    ) throws(JournalFailure) {
        do throws(DurableFile.Failure) {
            try body()
        } catch {
            throw .system(operation: error.operation, reason: error.reason)
        }
    }

    @discardableResult
    private static func call(
        _ operation: String,
        _ body: () -> Int32
    ) throws(JournalFailure) -> Int32 {
        while true {
            let result = body()
            let code = errno
            if result >= 0 { return result }
            if code == EINTR { continue }
            throw .system(operation: operation, reason: String(cString: strerror(code)))
        }
    }
}

extension Int32 {
    fileprivate var asInt: Int { Int(self) }
}
