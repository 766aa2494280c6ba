import Foundation
import TestSupport
import Testing

@testable import GotchuServer

@Suite("The secret beside a database")
struct SecretTests {
    @Test("A secret is created despite an incomplete file of an earlier process with the same id")
    func left() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/books.db"
        _ = try folder.write("half", to: "books.db.secret.\(getpid())")
        let made = try Secret.loadOrCreate(forDatabase: path, isDevelopment: false)
        let kept = try Secret.loadOrCreate(forDatabase: path, isDevelopment: false)
        #expect(made.bytes == kept.bytes && made.bytes.count == Secret.length)
    }
}
