import Devices
import Hummingbird
import Ledger
import LedgerStore
import Logging
import TestSupport

@testable import GotchuServer

extension Routes {
    /// Returns the method and path of each route of a server with these settings.
    static func addresses(of settings: [String: String?]) throws -> [Router<ServerContext>
        .RouteDescription]
    {
        let folder = try TemporaryFolder()
        let path = folder.path + "/books.db"
        let store = try SQLiteStore(path: path)
        let ledger = Ledger(
            store: store,
            kinds: RecordKind.all,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        let flags = ["database": "sqlite:\(path)", "dev": "true"].merging(settings) { $1 }
        let routes = Routes(
            ledger: ledger,
            devices: DeviceRegistry(store),
            store: store,
            tokens: Tokens(
                localIssuer: LocalTokenIssuer(Secret(bytes: Array(repeating: 7, count: 32))),
                issuer: nil,
                users: UserDirectory(ledger: ledger)
            ),
            readiness: Readiness(ledger: ledger),
            options: try ServerOptions(ServerSettings(flags: flags))
        )
        return routes.addresses().routes
    }
}
