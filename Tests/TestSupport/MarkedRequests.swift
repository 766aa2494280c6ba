import Foundation

/// Requests with combining marks to each route of a server (`Tests/Python/marks.py`).
package struct MarkedRequests: Encodable {
    package struct Outcome: Decodable {
        /// The requests that take more than four times as long as ASCII: method, path, kind,
        /// status, and both times in microseconds.
        package let slow: [[Part]]
        package let count: Int
        /// The number of replies by status.
        package let statuses: [String: Int]
    }

    package enum Part: Decodable, CustomStringConvertible {
        case text(String)
        case number(Int)

        package init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let number = try? container.decode(Int.self) {
                self = .number(number)
            } else {
                self = .text(try container.decode(String.self))
            }
        }

        package var description: String {
            switch self {
            case .text(let text): text
            case .number(let number): "\(number)"
            }
        }
    }

    /// The server's process.
    let pid: Int32
    /// The server's port, or the path of its socket.
    let address: String
    /// The methods and paths, with `{}` for an id.
    package let routes: [[String]]
    let headers: [String: String]
    /// The beginning of each form; empty if bodies are JSON.
    let form: String
    /// The names of members, form fields and query parameters that the sources read.
    package let strings, integers, fields, parameters: [String]

    /// - Parameters:
    ///   - routes: The routes, such as `GET /sessions/{sid}`.
    ///   - folders: The folders of `Sources` that read the requests.
    package init(
        _ routes: [String],
        of pid: Int32,
        at address: String,
        headers: [String: String],
        form: String = "",
        readBy folders: [String]
    ) throws {
        self.pid = pid
        self.address = address
        self.routes = routes.map { route in
            route.replacing(/\{[^}]*\}|:\w+/, with: "{}").split(separator: " ").map(String.init)
        }
        self.headers = headers
        self.form = form
        let texts = try folders.flatMap(Self.sources)
        func names(_ pattern: String) throws -> [String] {
            let regex = try Regex(pattern, as: (Substring, Substring).self)
            return Set(texts.flatMap { $0.matches(of: regex).map { String($0.output.1) } }).sorted()
        }
        strings = try names(#"\.(?:string|shortText|eid|currency|parsed|sessionID)\("(\w+)""#)
        integers = try names(#"\.(?:integer|requiredInteger)\("(\w+)""#)
        fields = try names(#"fields\.(?:text|typed)\("(\w+)"\)"#)
        parameters = try names(#"(?:query|parameters)(?:\.\w+\(|\[)"(\w+)""#)
    }

    private static func sources(_ folder: String) throws -> [String] {
        let root = URL(fileURLWithPath: Python.file("Sources/\(folder)"))
        let files = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)
        return try (files?.compactMap { $0 as? URL } ?? [])
            .filter { $0.pathExtension == "swift" }
            .map { try String(contentsOf: $0, encoding: .utf8) }
    }

    package func send() async throws -> Outcome {
        let folder = try TemporaryFolder()
        let text = String(decoding: try JSONEncoder().encode(self), as: UTF8.self)
        let plan = try folder.write(text, to: "plan.json")
        let script = try await Python.run("marks.py", [plan])
        let code = try await script.exitCode(within: .seconds(300))
        guard code == 0 else {
            throw NeverHappened(description: "The requests are sent: \(script.text)")
        }
        return try JSONDecoder().decode(Outcome.self, from: Data(script.text.utf8))
    }
}

extension String {
    /// A letter with combining marks whose classes fall: the worst for a sort by insertion.
    package static func fallingMarks(bytes: Int) -> String {
        let marks = (UInt32(0x300)..<0x800).compactMap(Unicode.Scalar.init)
            .filter { $0.properties.canonicalCombiningClass != .notReordered }
            .sorted {
                $0.properties.canonicalCombiningClass.rawValue
                    > $1.properties.canonicalCombiningClass.rawValue
            }
        let count = (bytes - 1) / 2
        let run = (0..<count).map { marks[$0 * marks.count / count] }
        return "a" + String(String.UnicodeScalarView(run))
    }
}

/// Returns the CPU time of this process in nanoseconds.
package func processTime() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
}
