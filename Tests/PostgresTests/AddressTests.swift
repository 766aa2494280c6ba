import Postgres
import Testing

@Suite("A database's URL")
struct AddressTests {
    @Test(
        "that makes no sense is refused without a word of what it holds",
        arguments: [
            "postgres://u:sesame@open@127.0.0.1:1/x", "postgres://u:ses/ame@127.0.0.1:1/x",
            "postgres://u:sesame@127.0.0.1:sesame/x", "postgres://u:sesame@[::1/x",
            "postgres://u:sesame@127.0.0.1:1/x?nosuch=sesame", "postgres://u:%zzsesame@h/x",
        ]
    )
    func malformed(url: String) {
        let error = #expect(throws: PostgresError.self) {
            let settings = try ConnectionSettings(url: url)
            _ = try Connection(settings)
        }
        #expect(error?.kind == .malformedAddress)
        #expect(error?.description.contains("ses") == false, "\(error as Any)")
    }

    @Test("a server that is not there is an error that names it and keeps the password")
    func nobody() throws {
        let settings = try ConnectionSettings(url: "postgres://u:sesame@127.0.0.1:1/x")
        #expect(settings.holdsPassword)
        let error = #expect(throws: PostgresError.self) { _ = try Connection(settings) }
        #expect(error?.kind == .cannotConnect)
        #expect(error?.description.contains("127.0.0.1") == true)
        #expect(error?.description.contains("sesame") == false)
        #expect(try !ConnectionSettings(url: "postgres://u@127.0.0.1:1/x").holdsPassword)
    }
}
