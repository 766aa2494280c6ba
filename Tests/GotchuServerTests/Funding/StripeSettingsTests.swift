import Foundation
import ServiceProcess
import Stripe
import TestSupport
import Testing

@testable import GotchuServer

@Suite("The settings of Stripe")
struct StripeSettingsTests {
    private static let test = "sk_test_" + "x"
    private static let live = "sk" + "_live_x"

    private static func file(
        _ text: String,
        mode: Int = 0o600,
        in folder: TemporaryFolder
    ) throws -> String {
        let path = try folder.write(text, to: UUID().uuidString)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return path
    }

    private static func options(_ flags: [String: String]) throws -> StripeOptions? {
        let usual = ["database": "sqlite:/x", "public_url": "https://pay.example"]
        return try ServerSettings(flags: usual.merging(flags) { $1 }).stripeOptions
    }

    @Test("Test settings with a local address are valid, and a live key uses Stripe's own address")
    func good() throws {
        let folder = try TemporaryFolder()
        let options = try #require(
            try Self.options([
                "stripe_key_file": try Self.file(Self.test + "\n", in: folder),
                "stripe_webhook_secrets_file": try Self.file("whsec_a\nwhsec_b\n", in: folder),
                "stripe_api": "http://127.0.0.1:12111", "stripe_publishable_key": "pk_test_1",
            ])
        )
        #expect(options.access.address == "http://127.0.0.1:12111")
        #expect(!options.access.secret.isLive && options.webhookSecrets.count == 2)
        #expect(try Self.options([:]) == nil)
        let live = try Self.file(Self.live, in: folder)
        let moving = try Self.options(["stripe_key_file": live, "stripe_live": "true"])
        #expect(moving?.access.address == "https://api.stripe.com")
    }

    @Test(
        "Settings that are invalid or mix test and real money are refused without showing the key"
    )
    func bad() throws {
        let folder = try TemporaryFolder()
        let test = try Self.file(Self.test, in: folder)
        let live = try Self.file(Self.live, in: folder)
        let cases: [[String: String]] = [
            ["stripe_key_file": folder.path + "/none"],
            ["stripe_key_file": try Self.file(Self.test, mode: 0o640, in: folder)],
            ["stripe_key_file": try Self.file("pk_test_1", in: folder)],
            ["stripe_key_file": try Self.file(Self.test + "\n" + Self.test, in: folder)],
            ["stripe_key_file": try Self.file(" ", in: folder)],
            ["stripe_key_file": live], ["stripe_key_file": test, "stripe_live": "true"],
            ["stripe_key_file": live, "stripe_live": "true", "dev": "true"],
            ["stripe_key_file": live, "stripe_live": "true", "stripe_api": "http://127.0.0.1:1"],
            ["stripe_key_file": test, "stripe_api": "https://elsewhere.example"],
            ["stripe_key_file": test, "stripe_publishable_key": "pk" + "_live_1"],
            [
                "stripe_key_file": test,
                "stripe_webhook_secrets_file": try Self.file("x\n", in: folder),
            ],
            ["stripe_live": "true"], ["stripe_publishable_key": "pk_test_1"],
        ]
        for flags in cases {
            do {
                _ = try Self.options(flags)
                Issue.record("These settings are accepted: \(flags)")
            } catch let failure as ServerFailure {
                #expect(failure.exitCode == .configuration)
                #expect(
                    !failure.message.contains(Self.test) && !failure.message.contains(Self.live)
                )
            }
        }
        #expect(throws: ServerFailure.self) {
            _ = try ServerSettings(flags: ["database": "sqlite:/x", "stripe_key_file": test])
                .stripeOptions
        }
    }

    @Test("The refusal of a file of secrets names the line that cannot be one")
    func lines() throws {
        let folder = try TemporaryFolder()
        for (text, sentence) in [
            ("whsec_a\r\n", "Line 1 has a space, a line end of Windows"),
            ("\u{FEFF}whsec_a\n", "Line 1 has"), ("whsec_a\n\n# old\n", "Line 3 has"),
            ("whsec_a\n#old\n", "Number 2 does not begin with whsec_"), ("\n\n", "It is empty."),
        ] {
            let flags = [
                "stripe_key_file": try Self.file(Self.test, in: folder),
                "stripe_webhook_secrets_file": try Self.file(text, in: folder),
            ]
            let failure = #expect(throws: ServerFailure.self) { try Self.options(flags) }
            #expect(failure?.message.contains(sentence) == true, "\(text): \(failure as Any)")
        }
    }

    @Test(
        "A smallest deposit above the largest deposit or balance is refused: nobody could deposit",
        arguments: ["deposit_maximum", "balance_maximum"]
    )
    func depositRange(maximum: String) throws {
        func options(_ least: String) throws -> ServerOptions {
            let settings = try ServerSettings(flags: [
                "database": "sqlite:/x", "deposit_minimum": least, maximum: "500",
            ])
            return try ServerOptions(settings)
        }
        #expect(try options("500").funding.depositMinimum == 500)
        let failure = #expect(throws: ServerFailure.self) { try options("501") }
        #expect(failure?.exitCode == .configuration)
        let fix = try #require(failure?.fix)
        #expect(fix.contains("GOTCHU_SERVER_DEPOSIT_MINIMUM") && fix.contains(maximum.uppercased()))
    }

    @Test("A list of users that names nobody is refused, because it would exclude everybody")
    func emptyList() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("# ada\n\n", to: "users")
        let failure = #expect(throws: ServerFailure.self) { try UserAllowlist(file: path) }
        #expect(failure?.exitCode == .configuration)
        #expect(failure?.message.contains("names nobody") == true)
    }

    @Test(
        "A list of users that cannot be read is refused, even if its feature is off",
        arguments: ["funding_users_file", "contests_users_file"]
    )
    func missingUsers(setting: String) throws {
        let flags = ["database": "sqlite:/x", setting: "/nowhere/users"]
        let settings = try ServerSettings(flags: flags)
        let failure = #expect(throws: ServerFailure.self) { try ServerOptions(settings) }
        #expect(failure?.exitCode == .configuration)
        #expect(failure?.message.contains("/nowhere/users cannot be read") == true)
    }
}
