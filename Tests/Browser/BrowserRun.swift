import Foundation
import PostgresTestSupport
import TestSupport

/// The run of all stories in one program, and the report of the run.
actor BrowserRun {
    static let shared = BrowserRun()

    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    /// The run's output folder: its report, and a folder for each failed story.
    static let output = folder.appendingPathComponent("../../.build/browser").standardizedFileURL

    /// The stories to run: all, or those that `GOTCHU_BROWSER_STORIES` names (`sale,quick`).
    ///
    /// An unknown name ends the test run.
    static let stories: [Story] = {
        let named = ProcessInfo.processInfo.environment["GOTCHU_BROWSER_STORIES"] ?? ""
        let names = named.split { $0 == "," || $0 == " " }.map(String.init)
        guard !names.isEmpty else { return Story.allCases }
        return names.map { name in
            guard let story = Story(rawValue: name) else {
                preconditionFailure("There is no story \(name) in Tests/Browser/browser/stories.")
            }
            return story
        }
    }()

    /// The time limit of all stories together, times `patience`. A story that has not ended by then
    /// fails.
    private static let limit = Duration.seconds(900)

    /// The program that runs the stories, and the database that one of the stories suspends.
    private typealias Running = (program: Program, cluster: PostgresCluster)

    private var run: Task<Running, any Error>?

    /// Waits for the outcome of one story. The first call starts the run.
    ///
    /// - Returns: The reason of the story's failure, or `nil` if it passed.
    /// - Throws: The error that kept the browser from starting, or `NeverHappened` if the run ends
    ///   or takes too long without an outcome of the story.
    func failure(of story: Story) async throws -> String? {
        // SAFETY: owned by this actor, which starts it once; it only starts the program.
        let run = self.run ?? Task { try await Self.start() }
        self.run = run
        let program = try await run.value.program
        let file = Self.output.appendingPathComponent("results.json")
        return try await eventually("\(story.rawValue) has an outcome", within: Self.limit) {
            // This is read before the report, because the program may write the report just before
            // it ends.
            let hasEnded = !program.isRunning
            let data = (try? Data(contentsOf: file)) ?? Data()
            let report = try? JSONDecoder().decode(Report.self, from: data)
            if let told = report?.scenarios.first(where: { $0.name == story.rawValue }) {
                return .some(told.failure)
            }
            guard !hasEnded else {
                throw NeverHappened(description: "The run ended: \(program.text.suffix(4_000))")
            }
            return nil
        }
    }

    /// Returns the names of the stories in the Python package.
    static func names() async throws -> [String] {
        let list = try await program(["--list"])
        guard try await list.exitCode() == 0 else { throw NeverHappened(description: list.text) }
        return list.text.split(separator: "\n").map(String.init)
    }

    private static func start() async throws -> Running {
        try? FileManager.default.removeItem(at: output)
        try FileManager.default.createDirectory(at: output, withIntermediateDirectories: true)
        let views = output.appendingPathComponent("views.ndjson")
        try Views.write(to: views)
        let cluster = try PostgresCluster()
        let program = try await Self.program(
            [
                "--views", views.path, "--faults", try await Faults.libraryPath(),
                "--postgres", cluster.url(try cluster.makeDatabase()),
            ] + stories.map(\.rawValue)
        )
        return (program, cluster)
    }

    private static func program(_ arguments: [String]) async throws -> Program {
        let path = "\(folder.path):\(folder.appendingPathComponent("../VM").path)"
        var settings = ["GOTCHU_TEST_PATIENCE": "\(patience)", "GOTCHU_TEST_EFFORT": "\(effort)"]
        if isWritingPages { settings["GOTCHU_TEST_WRITE"] = "1" }
        return try Program(
            try await Python.interpreter(),
            ["-B", "-m", "browser", "--programs", Program.folder.path, "--out", output.path]
                + arguments,
            environment: settings.merging(["PYTHONPATH": path]) { one, _ in one }
        )
    }

    /// The file `results.json`, which the program rewrites after each story.
    private struct Report: Decodable {
        var scenarios: [Outcome]

        struct Outcome: Decodable {
            var name: String
            var failure: String?
        }
    }
}
