internal import ArgumentParser
internal import Devices
internal import GotchuCore
internal import Ledger
internal import ServiceProcess

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

    @OptionGroup var database: DatabaseOption

    func run() async throws {
        for listed in try await DeviceAdministration(database.store).devices() {
            let device = listed.device
            Console.output(
                [
                    device.id.rawValue, device.user.rawValue, listed.login,
                    device.state(at: .now),
                    device.lastUsedAt?.iso8601 ?? "never", device.name,
                ].joined(separator: "\t")
            )
        }
    }
}
