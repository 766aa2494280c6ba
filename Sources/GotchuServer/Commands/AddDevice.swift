internal import ArgumentParser
internal import Devices
internal import GotchuCore
internal import Ledger
internal import LedgerStore
internal import ServiceProcess

/// `gotchu-server devices add`.
struct AddDevice: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Registers a device and prints the code that enrols it.",
        discussion: """
            Example:
              (umask 077; gotchu-server devices add "Corner Cafe" --database sqlite:shop.db > code)
              gotchu-ctl login --token-file code

            The code is printed once, on standard output, and is good for a day: whoever reads it \
            first has the device's login, so let nobody else read the file. Without --user \
            the device gets a wallet of its own, and its name is what payers are shown.

            The tills of a shop act for its user: what they earn goes to the shop's wallet, whose \
            name payers are shown.
              gotchu-server devices add "Till 7" --user '<https://id.example>corner-cafe' …
            """
    )

    private static let longestName = 64

    @Argument(help: "The device's name.")
    var name: String

    @Option(
        help: .value(
            "user",
            "The user whose wallet it acts for: an id, an e-mail address, or <issuer>subject."
        )
    )
    var user: String?

    @Flag(help: "Let it spend from the wallet too; otherwise it can only request money.")
    var maySpend = false

    @Flag(help: "Let it withdraw the wallet's money to a bank. Not for tills.")
    var mayWithdraw = false

    @OptionGroup var database: DatabaseOption

    func validate() throws {
        let scalars = name.unicodeScalars
        let isPlain = scalars.allSatisfy { $0.properties.generalCategory != .control }
        guard (1...Self.longestName).contains(scalars.count), isPlain else {
            throw ValidationError("a name has 1 to 64 characters, none of them control")
        }
    }

    func run() async throws {
        let store = try database.store
        let device = DeviceID.make()
        let credential = DeviceCredential(for: device)
        let scopes: [Scope] =
            [.payee] + (maySpend ? [.payer] : []) + (mayWithdraw ? [.payouts] : [])
        let owner = try await owner(of: device, in: store)
        try await DeviceRegistry(store).add(
            Device(
                id: device,
                user: owner.id,
                name: name,
                scopes: scopes.text,
                createdAt: .now,
                family: credential.familyHash,
                current: credential.secretHash,
                expiresAt: Timestamp.now.advanced(by: Device.enrolment)
            )
        )
        Console.error("Device \(device) acts for user \(owner.id). Its code, shown only now:")
        Console.output(credential.text)
    }

    private func owner(of device: DeviceID, in store: any Store) async throws -> User {
        if let user { return try await store.user(user) }
        return try await store.open(
            OpenAccount(
                login: "<device>\(device)",
                displayName: name,
                opening: Money(minorUnits: 0)
            )
        )
    }
}
