import Foundation
import TestSupport

/// What the power's going would leave of a server's files: every write and every sync is noted by a
/// library that is preloaded into it (`Tests/PowerCut/powercut.c`).
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
    ///   - folder: Where library and notes go.
    ///   - prefix: The paths to watch begin with it.
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

    /// From now on no log can be synced, or it can be again.
    func failSyncs(_ isSo: Bool) throws {
        if isSo {
            try Data().write(to: URL(fileURLWithPath: fault))
        } else {
            try FileManager.default.removeItem(atPath: fault)
        }
    }

    /// Makes the files as they would be found afterwards.
    ///
    /// Of what was written after a file's last sync each piece of 512 bytes is there or not, by
    /// chance. Of what a failed sync left over nothing is there: the system takes it for written,
    /// and later syncs pass it over.
    ///
    /// - Parameters:
    ///   - prefix: What the paths begin with instead.
    ///   - syncs: The number of syncs that reach the disk; with a disk that lies it is smaller.
    /// - Returns: How many writes were in danger.
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

    /// How many syncs were noted.
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
        // The last record may be half: the program was killed.
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
