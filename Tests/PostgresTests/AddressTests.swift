import Postgres
import Testing

@Suite("A database's URL")
struct AddressTests {
    @Test(
        "A malformed URL is refused, and the error contains no part of its secrets",
        arguments: [
            "postgres://u:sesame@open@127.0.0.1:1/x", "postgres://u:ses/ame@127.0.0.1:1/x",
            "postgres://u:sesame@127.0.0.1:sesame/x", "postgres://u:sesame@[::1/x",
            "postgres://u:sesame@127.0.0.1:1/x?nosuch=sesame", "postgres://u:%zzsesame@h/x",
            "postgres://h/x?sesame=b@c", "postgres://h/x?password=a&sesame=b",
            "postgres://h/x?sslpassword=a&sesame=b", "postgres://h/x?a&sesame=b",
            "postgres://h/x?a=b=c&sesame=d", "postgres://h/x?Password=a&sesame=b",
            "postgres://h/x?sesame&a=b", "postgres://h/x?sesame=b=c", "postgres://h/x?sesamE=a",
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

    @Test("The error about an unknown parameter of a URL names the parameter, but not its value")
    func parameter() {
        let url = "postgres://u@127.0.0.1:1/x?sslmode=require&ssl=true&ssl_mode=sesame&nosuch=open"
        let error = #expect(throws: PostgresError.self) { try ConnectionSettings(url: url) }
        #expect(error?.kind == .malformedAddress)
        #expect(error?.message.contains("ssl_mode") == true, "\(error as Any)")
        #expect(error?.description.contains("sesame") == false)
    }

    @Test("The error about a missing server contains the address, but not the password")
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
