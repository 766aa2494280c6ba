import Foundation
import TestSupport
import Testing

@testable import GotchuServer

@Suite("The secret beside a database")
struct SecretTests {
    @Test("A secret is created although an earlier process with the same id left a partial file")
    func left() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/books.db"
        _ = try folder.write("half", to: "books.db.secret.\(getpid())")
        let made = try Secret.loadOrCreate(forDatabase: path, isDevelopment: false)
        let kept = try Secret.loadOrCreate(forDatabase: path, isDevelopment: false)
        #expect(made.bytes == kept.bytes && made.bytes.count == Secret.length)
        #expect(made.isNew && !kept.isNew)
    }

    @Test(
        "A secret file that others can read, that is short or a link, or has no folder, is refused",
        arguments: [
            ("others", "Others than its owner may read it."),
            ("short", "It does not hold 32 bytes."),
            ("link", "It cannot be opened: Too many levels of symbolic links."),
            ("folder", "It cannot be made: No such file or directory."),
        ]
    )
    func unusable(fault: String, reason: String) throws {
        let folder = try TemporaryFolder()
        let name = "books.db.secret"
        let bytes = String(repeating: "x", count: fault == "short" ? 31 : 32)
        let file = try folder.write(bytes, to: fault == "link" ? "elsewhere" : name)
        try #require(chmod("\(file)", fault == "others" ? 0o640 : 0o600) == 0)
        if fault == "link" {
            try #require(symlink("\(file)", "\(folder.path)/\(name)") == 0)
        }
        let path = folder.path + (fault == "folder" ? "/gone/books.db" : "/books.db")
        let failure = #expect(throws: ServerFailure.self) {
            try Secret.loadOrCreate(forDatabase: path, isDevelopment: false)
        }
        let text = failure.map { "\($0.message) \($0.fix ?? "")" } ?? ""
        #expect(text.contains(reason), "\(text)")
        #expect(text.contains(fault == "folder" ? "folder" : "chmod 600"), "\(text)")
    }
}
