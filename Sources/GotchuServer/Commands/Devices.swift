internal import ArgumentParser

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
