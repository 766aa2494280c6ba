internal import ArgumentParser
internal import Devices
internal import GotchuCore
internal import ServiceProcess

/// `gotchu-server devices renew`.
struct RenewDevice: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "renew",
        abstract: "Prints a new code for a device, revoked or not.",
        discussion: """
            Example:
              (umask 077; gotchu-server devices renew 0193... --database sqlite:shop.db > code)

            For a machine that was replaced or set up anew. What the old one holds is worth \
            nothing any more.
            """
    )

    @Argument(help: "The device's id, as devices list shows it.")
    var device: String

    @OptionGroup var database: DatabaseOption

    func run() async throws {
        let credential = DeviceCredential(for: DeviceID(trusted: device))
        try await DeviceAdministration(database.store).change(device) { device in
            device.enrol(family: credential.familyHash, current: credential.secretHash, at: .now)
        }
        Console.output(credential.text)
    }
}
