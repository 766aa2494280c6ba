import Foundation
internal import Postgres
import Synchronization

/// A Citus cluster for tests: a coordinator and two workers, each a `PostgresCluster`.
package final class CitusCluster: Sendable {
    /// A Boolean that is true if the newest PostgreSQL of this machine has the Citus extension.
    package static let isInstalled: Bool = {
        let shared = try? PostgresCluster.run([PostgresCluster.program("pg_config"), "--sharedir"])
        let folder = shared?.trimmingCharacters(in: .newlines) ?? ""
        return access("\(folder)/extension/citus.control", R_OK) == 0
    }()
    /// The reason why tests are skipped without Citus.
    package static let absence = "Citus is not installed: see docs/testing.md"

    /// Returns the cluster that is shared by the tests that do not damage it.
    package static func shared() throws -> CitusCluster { try sharedCluster.get() }

    package let coordinator: PostgresCluster
    package let workers: [PostgresCluster]
    private let template = Mutex<String?>(nil)
    private let databases = Atomic<Int>(0)

    private var nodes: [PostgresCluster] { [coordinator] + workers }

    package init(settings: [String]) throws {
        let usual = [
            // Few shards, because every test has its own tables, but more than one per worker.
            "shared_preload_libraries=citus", "citus.shard_count=4", "max_worker_processes=100",
        ]
        coordinator = try PostgresCluster(settings: usual + settings)
        workers = try (0..<2).map { _ in try PostgresCluster(settings: usual + settings) }
    }

    /// Creates an empty database in the cluster.
    ///
    /// - Returns: Its URL.
    package func makeDatabase() throws -> String {
        coordinator.url(try makeEmpty())
    }

    /// Creates a database with distributed tables. The first call creates and distributes the
    /// tables of an original. Every node then copies its part of the original.
    ///
    /// - Parameter distribute: Creates and distributes the tables of the database with a URL.
    package func makeDatabase(_ distribute: (String) throws -> Void) throws -> String {
        let name = try template.withLock { template in
            if template == nil {
                let name = try makeEmpty()
                try distribute(coordinator.url(name))
                // A database cannot be copied while it has connections, such as of Citus's daemon.
                try onAll("ALTER DATABASE \(name) ALLOW_CONNECTIONS false")
                try onAll(
                    """
                    SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
                    WHERE datname = '\(name)'
                    """
                )
                template = name
            }
            return try makeDatabase(from: template ?? "")
        }
        return coordinator.url(name)
    }

    private func makeEmpty() throws -> String {
        let name = try makeDatabase(from: "template0")
        for node in nodes { try node.connect(name).connection.execute("CREATE EXTENSION citus") }
        let joined = workers.map { "SELECT citus_add_node('\($0.socketFolder)', 5432);" }
        try coordinator.connect(name).connection.execute(
            "SELECT citus_set_coordinator_host('\(coordinator.socketFolder)', 5432);"
                + joined.joined()
        )
        return name
    }

    private func makeDatabase(from template: String) throws -> String {
        let name = "c\(databases.add(1, ordering: .relaxed).newValue)"
        try onAll("CREATE DATABASE \(name) TEMPLATE \(template)")
        return name
    }

    private func onAll(_ sql: String) throws {
        for node in nodes { try node.connect("postgres").connection.execute(sql) }
    }
}

/// The shared cluster. Its daemons for recovery and deadlocks are off, because they would keep
/// connections to each database. They are not needed: our servers lock in one order, and no test
/// interrupts a commit here.
private let sharedCluster = Swift.Result {
    try CitusCluster(settings: [
        "citus.recover_2pc_interval=-1", "citus.distributed_deadlock_detection_factor=-1",
    ])
}
