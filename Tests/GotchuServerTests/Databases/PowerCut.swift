import Foundation
import TestSupport

/// A simulated power cut. A preloaded library (`Tests/PowerCut/powercut.c`) records each write and
/// sync of a server's files. The files after a power cut are reconstructed from these records.
struct PowerCut {
    private struct Record {
        let kind: UInt8
        let file: String
        let offset: Int
        let data: Data
    }

    let environment: [String: String]
    private let log: String
    private let prefix: String
    private let fault: String

    /// - Parameters:
    ///   - folder: The folder for the library and its log.
    ///   - prefix: The prefix of the paths of the recorded files.
    init(in folder: TemporaryFolder, watching prefix: String) async throws {
        let library = try await Preload.library("PowerCut/powercut.c", in: folder)
        log = "\(folder.path)/powercut.log"
        fault = "\(folder.path)/powercut.fail"
        self.prefix = prefix
        environment = [
            "LD_PRELOAD": library, "POWERCUT_LOG": log, "POWERCUT_PREFIX": prefix,
            "POWERCUT_FAIL": fault,
        ]
    }

    /// Makes syncs of the database's write-ahead log fail from now on, or succeed again.
    func failSyncs(_ isSo: Bool) throws {
        if isSo {
            try Data().write(to: URL(fileURLWithPath: fault))
        } else {
            try FileManager.default.removeItem(atPath: fault)
        }
    }

    /// Writes the files as they are after the power cut.
    ///
    /// Each 512-byte block that was written after its file's last sync is kept or lost at random.
    /// Data before a failed sync is always lost: the system regards it as written, so later syncs
    /// skip it.
    ///
    /// - Parameters:
    ///   - prefix: The prefix of the written files' paths.
    ///   - syncs: The number of syncs that reach the disk. The disk ignores all later syncs.
    /// - Returns: The number of writes that no sync made durable.
    func restore(
        as prefix: String,
        believing syncs: Int = .max,
        using generator: inout SeededGenerator
    ) throws -> Int {
        var durable: [String: Data] = [:]
        var pending: [String: [Record]] = [:]
        var reached = 0
        for record in try records() {
            if record.kind == UInt8(ascii: "f") {
                pending[record.file] = nil
                continue
            }
            guard record.kind == UInt8(ascii: "s") else {
                pending[record.file, default: []].append(record)
                continue
            }
            reached += 1
            guard reached <= syncs else { continue }
            for late in pending.removeValue(forKey: record.file) ?? [] {
                Self.apply(late, to: &durable[record.file, default: Data()])
            }
        }
        for late in pending.values.joined() where late.kind == UInt8(ascii: "w") {
            for start in stride(from: 0, to: late.data.count, by: 512)
            where Bool.random(using: &generator) {
                let piece = Record(
                    kind: late.kind,
                    file: late.file,
                    offset: late.offset + start,
                    data: late.data.dropFirst(start).prefix(512)
                )
                Self.apply(piece, to: &durable[late.file, default: Data()])
            }
        }
        for (file, data) in durable where !file.hasSuffix("-shm") && !file.hasSuffix("-journal") {
            let path = prefix + file.dropFirst(self.prefix.count)
            try data.write(to: URL(fileURLWithPath: path))
        }
        return pending.values.reduce(0) { $0 + $1.count }
    }

    /// Returns the number of recorded syncs.
    func syncCount() throws -> Int {
        try records().count { $0.kind == UInt8(ascii: "s") }
    }

    private static func apply(_ record: Record, to data: inout Data) {
        let end = record.offset + record.data.count
        if record.kind == UInt8(ascii: "t") {
            data = data.prefix(record.offset) + Data(count: max(0, record.offset - data.count))
            return
        }
        if data.count < end { data.append(Data(count: end - data.count)) }
        data.replaceSubrange(record.offset..<end, with: record.data)
    }

    private func records() throws -> [Record] {
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: log)))
        var records: [Record] = []
        var position = 0
        // The last record may be incomplete, because the program was killed.
        while position + 32 <= bytes.count {
            let head = (0..<4).map { field in
                (0..<8).reduce(0) { $0 | Int(bytes[position + field * 8 + $1]) << ($1 * 8) }
            }
            let end = position + 32 + head[1] + head[3]
            guard end <= bytes.count else { break }
            let name = bytes[position + 32..<position + 32 + head[1]]
            records.append(
                Record(
                    kind: UInt8(head[0]),
                    file: String(decoding: name, as: UTF8.self),
                    offset: head[2],
                    data: Data(bytes[position + 32 + head[1]..<end])
                )
            )
            position = end
        }
        return records
    }
}
