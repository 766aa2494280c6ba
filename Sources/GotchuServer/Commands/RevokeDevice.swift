internal import ArgumentParser
internal import Devices
internal import GotchuCore
internal import ServiceProcess

/// `gotchu-server devices revoke`.
struct RevokeDevice: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Ends a device's credential.",
        discussion: """
            Example:
              gotchu-server devices revoke 0193... --database sqlite:shop.db

            It gets no further token. The one that it has runs out by itself, within ten minutes \
            unless the server was started with another --token-seconds.
            """
    )

    @Argument(help: "The device's id, as devices list shows it.")
    var device: String

    @OptionGroup var database: DatabaseOption

    func run() async throws {
        try await DeviceAdministration(database.store).change(device) { device in
            device.revoke(.byOperator, at: .now)
        }
        Console.output("Revoked.")
    }
}
