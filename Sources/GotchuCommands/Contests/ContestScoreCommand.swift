import ArgumentParser
import GotchuAPI
import GotchuCore
import LocalAPI

/// `gotchu-ctl contest score`: writes scores.
struct ContestScoreCommand: ContestVerb {
    static let configuration = CommandConfiguration(
        commandName: "score",
        abstract: "Write scores of entries or players.",
        discussion: """
            EXAMPLES:
              gotchu-ctl contest score ID 1=42 2=38 3=40
              gotchu-ctl contest score ID 7=1181200 8=-
              gotchu-ctl contest score ID 1=42,seconds=12
              gotchu-ctl contest score ID --csv scores.csv

            'contest board' shows the numbers of entries. A score replaces the one before, and - \
            takes it back; times are in milliseconds. A table has the titles entry,points (or \
            player,points) and those of further values. Nothing is final before 'contest \
            complete'.
            """
    )

    private static let fileLimit = 4 << 20

    @OptionGroup var target: ContestOptions

    @Argument(help: .value("score", "Scores: ENTRY=POINTS[,NAME=VALUE]."))
    var scores: [String] = []

    @Option(help: .value("path", "A table of scores; - is standard input."), completion: .file())
    var csv: String?

    @Option(
        help: .value(
            "revision",
            "Refuse if there are other scores than this revision's; the newest unless said."
        )
    )
    var base: Int64?

    func validate() throws {
        guard scores.isEmpty != (csv == nil) else {
            throw ValidationError("Give either scores, such as 1=42, or --csv.")
        }
    }

    func run(_ access: ContestAccess, _ output: Output) async throws {
        let sheet = try sheet(access)
        guard !sheet.scores.isEmpty else {
            throw CommandFailure.badData(
                "There are no scores in the table.",
                next: access.command("score", "1=42")
            )
        }
        let detail = try await access.detail().document
        try detail.requireLock(access)
        var revision = base ?? detail.revision?.value ?? 0
        var last: ContestReply<ScoresReply>?
        for part in sheet.parts {
            let body: [String: JSONValue] = [
                "base_revision": .integer(revision), "scores": .array(part),
            ]
            let reply = try await access.post("scores", body, as: ScoresReply.self)
            revision = reply.document.revision.value
            last = reply
        }
        guard let last else { return }
        guard !output.isJSON else { return output.document(last.bytes) }
        let count = sheet.scores.count
        output.line("\(count == 1 ? "1 score" : "\(count) scores") written: revision \(revision)")
        output.message("Look at them: \(access.command("board"))")
        output.message("If all is right: \(access.command("complete", "--revision \(revision)"))")
    }

    private func sheet(_ access: ContestAccess) throws -> ScoreTable {
        let table = try csv.map { try Self.text(of: $0, access) }
        do throws(ScoreTable.Malformed) {
            guard let table else { return try ScoreTable(arguments: scores) }
            return try ScoreTable(csv: table)
        } catch {
            throw CommandFailure.badData(
                error.sentence.printable,
                next: access.command("score", "1=42 2=38")
            )
        }
    }

    private static func text(of path: String, _ access: ContestAccess) throws -> String {
        let file = InputFile(path: path == "-" ? nil : path)
        let bytes = try file.read(limit: fileLimit)
        guard bytes.count <= fileLimit, let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandFailure.badData(
                "\(file.name) is not a text of 4 MiB at most.",
                next: access.command("score", "1=42 2=38")
            )
        }
        return text
    }
}
