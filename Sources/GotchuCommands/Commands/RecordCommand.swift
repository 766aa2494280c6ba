import ArgumentParser
import GotchuAPI
import GotchuCore
import LocalAPI
import Synchronization

/// `gotchu-ctl record`: records what the radio receives into a file that can be replayed elsewhere.
struct RecordCommand: SocketCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "Record what the radio hears into a file that can be replayed elsewhere.",
        discussion: """
            EXAMPLES:
              sudo gotchu-ctl record shop.ndjson
              sudo gotchu-ctl record held.ndjson --seconds 20 --note held
              gotchud --radio replay:shop.ndjson --socket ~/g.sock --state ~/g

            EIDs are replaced by others before they leave the daemon, in each recording by \
            different ones; addresses of devices are not in it. Ctrl-C ends it early and keeps \
            it. A file that is there already is never written over.
            """
    )

    @OptionGroup var options: CommonOptions

    @Argument(help: "The file to make.", completion: .file())
    var file: String

    @Option(help: .value("text", "What you do, such as the distance: held, half a metre, passing."))
    var note: String?

    @Option(help: "Seconds, 1 to \(LocalAPIVersion.maximumRecordingSeconds).")
    var seconds = 60

    private static let noteLimit = 200

    func validate() throws {
        guard (1...LocalAPIVersion.maximumRecordingSeconds).contains(seconds) else {
            throw ValidationError(
                "--seconds is 1 to \(LocalAPIVersion.maximumRecordingSeconds)."
            )
        }
        guard (note ?? "").utf8.count <= Self.noteLimit else {
            throw ValidationError("--note has at most \(Self.noteLimit) bytes.")
        }
    }

    func run(_ client: LocalClient, _ output: Output) async throws {
        let written = Mutex(Written(file: file))
        let outcome = try await race(limit: .seconds(seconds)) {
            try await client.withRecording(seconds: seconds) { lines in
                try await write(&lines, written, output)
            }
        }
        let result = written.withLock(\.self)
        if case .finished(let hasRoom) = outcome, try !hasRoom.get() {
            let limit = "\(RecordingFile.limit >> 20) MiB"
            output.message("The file is full: a recording has \(limit) at most.")
        }
        if options.json {
            try output.json(result)
        } else {
            let lines = result.lines == 1 ? "1 line" : "\(result.lines) lines"
            output.line("Recorded \(lines) to \(file.printable).")
        }
    }

    /// Writes lines to the file as they arrive.
    ///
    /// - Returns: True if there was room for all of them. A file error is returned, not thrown: the
    ///   client takes thrown errors for failures of the connection.
    private func write(
        _ lines: inout LocalLines,
        _ written: borrowing Mutex<Written>,
        _ output: Output
    ) async throws -> Result<Bool, CommandFailure> {
        do {
            // Created only now: without a daemon or a permission, no empty file is left.
            var recording = try RecordingFile(path: file)
            output.message("Recording to \(file.printable), Ctrl-C ends it.")
            while var line = try await lines.next(isolation: #isolation) {
                if recording.byteCount == 0 { line = try adding(note, to: line) }
                guard try recording.write(line) else { return .success(false) }
                written.withLock { $0.record(bytes: recording.byteCount) }
            }
            try recording.sync()
            return .success(true)
        } catch let failure as CommandFailure {
            return .failure(failure)
        }
    }

    /// Returns the header's line with the note. The note stays on this machine until then.
    private func adding(_ note: String?, to line: [UInt8]) throws(CommandFailure) -> [UInt8] {
        guard let note else { return line }
        do {
            var header = try JSONReader.decode(RecordingHeader.self, line)
            header.note = note
            return try CanonicalJSON.encode(header)
        } catch {
            throw .inputOutput(
                "gotchud's recording begins with something other than its header.",
                next: "gotchu-ctl status"
            )
        }
    }

    /// The number of recorded lines and bytes; the header does not count as a line.
    private struct Written: Encodable, Sendable {
        let file: String
        var lines = 0
        var bytes = 0

        mutating func record(bytes: Int) {
            if self.bytes > 0 { lines += 1 }
            self.bytes = bytes
        }
    }
}
