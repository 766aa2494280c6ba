internal import ArgumentParser
internal import Devices
internal import GotchuCore
internal import Ledger
internal import LedgerStore
internal import ServiceProcess

/// `gotchu-server devices`.
struct Devices: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Registers the devices that get their tokens from this server.",
        discussion: """
            Examples:
              (umask 077; gotchu-server devices add Cafe --database sqlite:shop.db > code)
              gotchu-server devices list --database sqlite:shop.db
              gotchu-server devices revoke 0193... --database sqlite:shop.db
            """,
        subcommands: [AddDevice.self, ListDevices.self, RenewDevice.self, RevokeDevice.self]
    )
}

/// `gotchu-server devices add`.
struct AddDevice: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Registers a device and prints the code that enrols it.",
        discussion: """
            Example:
              (umask 077; gotchu-server devices add Cafe --database sqlite:shop.db > code)
              gotchu-ctl login --token-file code

            The code is printed once, on standard output. It is good for one machine, once, and \
            for a day: whoever uses it first has the device's login, so let nobody else read the \
            file. Without --user the device gets a wallet of its own, and its name is what payers \
            are shown.

            The tills of a shop act for its user: what they earn goes to the shop's wallet, whose \
            name payers are shown.
              gotchu-server devices add "Till 7" --user '<https://id.example>corner-cafe' …
            """
    )

    private static let maximumNameLength = 64

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
        guard (1...Self.maximumNameLength).contains(scalars.count), isPlain else {
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
        Console.error("Device \(device) acts for user \(owner.id).")
        credential.printCode()
    }

    private func owner(of device: DeviceID, in store: any Store) async throws -> User {
        if let user { return try await store.user(user) }
        return try await store.carryOut(
            OpenAccount(
                login: "<device>\(device)",
                displayName: name,
                opening: Money(minorUnits: 0)
            )
        )
    }
}

/// `gotchu-server devices list`.
struct ListDevices: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the registered devices, oldest first.",
        discussion: """
            Example:
              gotchu-server devices list --database sqlite:shop.db

            One line for each, separated by tabs: id, the user it acts for and that user's login, \
            state, when it was last seen, name.
            """
    )

    private static let limit = 100_000

    @OptionGroup var database: DatabaseOption

    func run() async throws {
        for listed in try await DeviceRegistry(database.store).devices(limit: Self.limit) {
            let device = listed.device
            Console.output(
                [
                    device.id.rawValue, device.user.rawValue, listed.login, device.state(at: .now),
                    device.lastUsedAt?.iso8601 ?? "never", device.name,
                ].joined(separator: "\t")
            )
        }
    }
}

/// `gotchu-server devices renew`.
struct RenewDevice: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "renew",
        abstract: "Prints a new code for a device, revoked or not.",
        discussion: """
            Example:
              (umask 077; gotchu-server devices renew ID --database sqlite:shop.db > code)

            For a machine that was replaced or set up anew. What the old one holds is worth \
            nothing any more.
            """
    )

    @Argument(help: "The device's id, as devices list shows it.")
    var device: String

    @OptionGroup var database: DatabaseOption

    func run() async throws {
        let credential = DeviceCredential(for: DeviceID(trusted: device))
        try await DeviceRegistry(database.store).change(id: device) { device in
            device.enrol(family: credential.familyHash, current: credential.secretHash, at: .now)
        }
        credential.printCode()
    }
}

/// `gotchu-server devices revoke`.
struct RevokeDevice: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Ends a device's credential.",
        discussion: """
            Example:
              gotchu-server devices revoke 0193... --database sqlite:shop.db

            It gets no further token. The one that it has expires by itself, within ten minutes \
            by default (--token-seconds); the command prints when.
            """
    )

    @Argument(help: "The device's id, as devices list shows it.")
    var device: String

    @OptionGroup var database: DatabaseOption

    func run() async throws {
        let now = Timestamp.now
        let revoked = try await DeviceRegistry(database.store).change(id: device) { device in
            device.revoke(.byOperator, at: now)
        }
        Console.output("Revoked. \(Self.rest(of: revoked, at: now))")
    }

    /// Describes how long a revoked device's last token is still valid.
    private static func rest(of device: Device, at now: Timestamp) -> String {
        guard let end = device.tokenEndsAt, now < end else { return "It has no valid token." }
        let seconds = (now.duration(to: end).wholeMilliseconds + 999) / 1000
        let rest = seconds < 60 ? "\(seconds) s" : "\(seconds / 60) min \(seconds % 60) s"
        return "Its last token is valid for another \(rest), until \(end.iso8601): the machine can "
            + "request, refund and spend until then, as far as it was allowed to."
    }
}

extension DeviceRegistry {
    /// Changes the device with the id that the operator entered. Throws if there is no such device.
    ///
    /// - Returns: The changed device.
    @discardableResult
    fileprivate func change(
        id: String,
        _ body: @escaping @Sendable (inout Device) -> Void
    ) async throws -> Device {
        let changed = try await change(DeviceID(trusted: id)) { device in
            body(&device)
            return device
        }
        guard let changed else {
            throw ServerFailure(
                .negative,
                "There is no device of that id.",
                fix: "gotchu-server devices list"
            )
        }
        return changed
    }
}

extension DeviceCredential {
    /// Prints the code, alone on standard output, after the next step.
    fileprivate func printCode() {
        Console.error(
            "On the device, within a day: sudo gotchu-ctl enrol https://SERVER --token-file FILE"
        )
        Console.error("Its code, shown only now and good once:")
        Console.output(text)
    }
}

extension Device {
    /// Returns the device's state as one word.
    fileprivate func state(at time: Timestamp) -> String {
        switch revocation {
        case .byOperator: "revoked"
        case .byReuse: "revoked-for-reuse"
        case nil where time >= expiresAt: "ended"
        case nil: generation == 0 ? "waiting" : "good"
        }
    }
}
