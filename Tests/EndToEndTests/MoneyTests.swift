import TestSupport
import Testing

/// Deposits and withdrawals with `gotchu-ctl`, gotchud and the server.
@Suite("Money in and out from end to end")
struct MoneyTests {
    @Test("The shell adds money to a wallet, withdraws some, and shows what can be withdrawn")
    func wallet() async throws {
        let shop = try await Shop(openingBalance: 0)
        let payee = try await shop.daemon("payee", at: "0,0")
        try await payee.logIn()
        func run(_ arguments: String...) async throws -> (code: Int32, text: String) {
            let program = try Program("gotchu-ctl", arguments + ["--socket", payee.socket])
            return (try await program.exitCode(), program.text)
        }
        let none = try await run("wallet", "deposits")
        #expect(none.code == 0 && none.text.contains("Nothing was added"), "\(none.text)")
        let added = try await run("wallet", "add", "20.00")
        #expect(added.code == 0 && added.text.contains("Added $20.00"), "\(added.text)")
        let large = try await run("wallet", "add", "500.01")
        #expect(large.code == 1 && large.text.contains("The most is now $500.00."), "\(large.text)")
        #expect(large.text.contains("wallet deposits"), "\(large.text)")
        let list = try await run("wallet", "deposits")
        #expect(list.code == 0 && list.text.contains("$20.00"), "\(list.text)")
        let id = try #require(
            list.text.split(whereSeparator: \.isWhitespace).last.map(String.init)
        )
        let late = try await run("wallet", "cancel", id)
        #expect(late.code == 1 && late.text.contains("already ended"), "\(late.text)")
        let unknown = try await run("wallet", "cancel", "nonsense")
        #expect(unknown.code == 1 && unknown.text.contains("wallet deposits"), "\(unknown.text)")
        let payouts = try await run("payouts")
        #expect(payouts.text.contains("$20.00 can be withdrawn now"), "\(payouts.text)")
        let withdrawn = try await run("withdraw", "5.00", "--yes")
        #expect(withdrawn.code == 0, "\(withdrawn.text)")
        let rest = try await run("payouts")
        #expect(rest.text.contains("$15.00 can be withdrawn now"), "\(rest.text)")
        let verified = try await shop.verify()
        #expect(verified.exitCode == 0, "\(verified.text)")
    }
}
