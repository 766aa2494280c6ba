import FoundationEssentials
import Glibc
package import GotchuCore

/// A recording as stored on disk: NDJSON, a header followed by the events.
package struct Recording: Sendable {
    package let header: RecordingHeader
    package let lines: [RecordingLine]

    /// The largest file that is read, in bytes; recorded files are smaller.
    static let fileLimit = 64 << 20

    /// The reason why a file is not a recording.
    package struct Malformed: Error, Equatable, Sendable {
        /// The line number, from 1; `nil` if the problem concerns the whole file.
        package let line: Int?
        package let problem: String
    }

    /// Reads a whole file.
    package init(path: String) throws(Malformed) {
        guard try Self.size(of: path) <= Self.fileLimit else {
            throw Malformed(
                line: nil,
                problem: "A recording has \(Self.fileLimit >> 20) MiB at most."
            )
        }
        guard let data = FileManager.default.contents(atPath: path) else {
            let reason = access(path, R_OK) == 0 ? EIO : errno
            throw Self.unreadable(String(cString: strerror(reason)))
        }
        try self.init(data)
    }

    /// Parses the text of a recording. Its times must not decrease.
    package init(_ text: some Collection<UInt8>) throws(Malformed) {
        let decoder = JSONDecoder()
        var header: RecordingHeader?
        var lines: [RecordingLine] = []
        var number = 0
        for bytes in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            number += 1
            guard !bytes.isEmpty else { continue }
            let data = Data(bytes)
            guard header != nil else {
                header = try Self.header(data, decoder, number)
                continue
            }
            guard let line = try? decoder.decode(RecordingLine.self, from: data),
                line.time >= (lines.last?.time ?? .zero)
            else {
                throw Malformed(line: number, problem: "This is not a line of a recording.")
            }
            lines.append(line)
        }
        guard let header else {
            throw Malformed(line: 1, problem: "The recording has no header.")
        }
        self.header = header
        self.lines = lines
    }

    private static func header(
        _ data: Data,
        _ decoder: JSONDecoder,
        _ number: Int
    ) throws(Malformed) -> RecordingHeader {
        guard let header = try? decoder.decode(RecordingHeader.self, from: data) else {
            throw Malformed(line: number, problem: "This is not the header of a recording.")
        }
        guard header.format == RecordingHeader.currentFormat else {
            throw Malformed(
                line: number,
                problem: "Recordings of format \(header.format) are not known to this version."
            )
        }
        return header
    }

    private static func size(of path: String) throws(Malformed) -> Int {
        var status = stat()
        guard stat(path, &status) == 0 else { throw unreadable(String(cString: strerror(errno))) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw unreadable("it is not a file") }
        return Int(status.st_size)
    }

    private static func unreadable(_ reason: String) -> Malformed {
        Malformed(line: nil, problem: "The recording cannot be read: \(reason).")
    }
}
