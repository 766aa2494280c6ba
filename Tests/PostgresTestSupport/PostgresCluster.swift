import Foundation
package import Postgres
import Synchronization
package import TestSupport

/// A PostgreSQL server for tests: real, durable, reachable only by a Unix socket. It ends with the
/// test process, even if the process is killed.
package final class PostgresCluster: Sendable {
    /// Returns the server that is shared by the tests that do not damage it.
    package static func shared() throws -> PostgresCluster { try sharedCluster.get() }

    /// The owner of all databases of the server.
    package static let user = "gotchu"

    package let folder: String
    /// The faults of the server's disk; `nil` unless the server was created with a fault library.
    package let faults: Faults?
    /// The disk of the write-ahead log; `nil` unless the server has such a disk.
    package let logDisk: SmallDisk?
    private let options: [String]
    private let supervisor = Mutex<Supervisor?>(nil)
    private let databases = Atomic<Int>(0)

    private var data: String { "\(folder)/data" }
    /// The folder of the server's socket, which is also the host in a URL.
    package var socketFolder: String { "\(folder)/s" }

    /// Creates a new cluster and starts it.
    ///
    /// - Parameters:
    ///   - parent: The folder for its files; by default in memory, where syncing works and is fast.
    ///   - settings: Settings that differ from the defaults, as in `max_connections=20`.
    ///   - faultLibrary: A library that makes the server's disk fail.
    ///   - hasLogDisk: True to put the write-ahead log on its own small disk, which only root can
    ///     create.
    package init(
        in parent: String? = nil,
        settings: [String] = [],
        faultLibrary: String? = nil,
        hasLogDisk: Bool = false
    ) throws {
        let folder = try Self.makeFolder(in: parent)
        self.folder = folder
        options = Self.defaultSettings + (hasLogDisk ? Self.smallLog : []) + settings
        let disk = hasLogDisk ? try SmallDisk(at: "\(folder)/log-disk", megabytes: 24) : nil
        logDisk = disk
        // PostgreSQL's user can read only its own folder.
        let copy = "\(folder)/faults.so"
        if let faultLibrary {
            try FileManager.default.copyItem(atPath: faultLibrary, toPath: copy)
        }
        faults = faultLibrary.map { _ in Faults("disk", in: folder, library: copy) }
        let initdb = [
            "\(Self.binaries)/initdb", "--pgdata=\(folder)/data", "--username=\(Self.user)",
            "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync",
        ]
        let log = disk.map { ["--waldir=\($0.path)/pg_wal", "--wal-segsize=1"] } ?? []
        try Self.run((disk?.enterCommand ?? []) + Self.asOwner + initdb + log)
        try start()
    }

    /// Creates a streaming replica of a running cluster and starts it.
    package init(replicaOf primary: PostgresCluster) throws {
        folder = try Self.makeFolder(in: nil)
        options = Self.defaultSettings
        faults = nil
        logDisk = nil
        try Self.run(
            Self.asOwner + [
                "\(Self.binaries)/pg_basebackup", "--pgdata=\(folder)/data", "--wal-method=stream",
                "--checkpoint=fast", "--write-recovery-conf", "--no-sync",
                "--dbname=host=\(primary.socketFolder) user=\(Self.user)",
            ]
        )
        try start()
    }

    deinit {
        supervisor.withLock { $0 = nil }
        // The supervisor leaves the files of a server that was killed and not started again.
        try? FileManager.default.removeItem(atPath: folder)
    }

    private static let defaultSettings = [
        "listen_addresses=", "max_connections=150", "shared_buffers=32MB", "max_wal_senders=4",
        "wal_keep_size=64MB", "log_checkpoints=off", "dynamic_shared_memory_type=mmap",
    ]

    /// Settings for a write-ahead log that fits on a small disk.
    private static let smallLog = ["min_wal_size=2MB", "max_wal_size=4MB", "wal_keep_size=0"]

    /// Returns the path of a program of the newest installed version, such as `pg_dump`.
    package static func program(_ name: String) -> String { "\(binaries)/\(name)" }

    /// The programs' folder of the newest installed version.
    private static let binaries: String = {
        let parent = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
        let newest = versions.compactMap { Int($0) }.max() ?? 15
        return "\(parent)/\(newest)/bin"
    }()

    /// The first words of a command that runs as PostgreSQL's user. PostgreSQL refuses to run as
    /// root.
    private static let asOwner: [String] =
        getuid() == 0
        ? ["/usr/bin/setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] : []

    private static func makeFolder(in parent: String?) throws -> String {
        let inMemory = "/dev/shm"
        let usual = access(inMemory, W_OK) == 0 ? inMemory : NSTemporaryDirectory()
        let name = "g\(String(UInt32.random(in: 0...UInt32.max), radix: 36))"
        let folder = "\(parent ?? usual)/\(name)"
        for path in [folder, "\(folder)/s"] {
            try FileManager.default.createDirectory(
                atPath: path,
                withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o700]
            )
            if getuid() == 0, let owner = getpwnam("postgres") {
                chown(path, owner.pointee.pw_uid, owner.pointee.pw_gid)
            }
        }
        return folder
    }

    /// Starts or restarts the server, and waits until it accepts connections.
    package func start() throws {
        let log = "\(folder)/log"
        let environment = faults?.environment.map { "\($0)=\($1)" } ?? []
        let server =
            ["/usr/bin/env"] + environment
            + ["\(Self.binaries)/postgres", "-D", data, "-k", socketFolder]
            + options.flatMap { ["-c", $0] }
        let command = (logDisk?.enterCommand ?? []) + Self.asOwner + server
        supervisor.withLock { $0 = nil }
        // After a kill the old processes may hold the shared memory for another moment.
        let deadline = ContinuousClock.now + .seconds(60)
        var started = try Supervisor(command, folder: folder, log: log)
        while ContinuousClock.now < deadline {
            if (try? connect("postgres")) != nil {
                supervisor.withLock { $0 = started }
                return
            }
            if !started.isRunning {
                started = try Supervisor(command, folder: folder, log: log)
            }
            // SAFETY: the pause between two checks of another process; the deadline decides.
            usleep(20_000)
        }
        throw NeverHappened(description: "PostgreSQL starts: \(text)")
    }

    /// The content of the server's log.
    package var text: String {
        (try? String(contentsOfFile: "\(folder)/log", encoding: .utf8)) ?? ""
    }

    /// A Boolean that is true while the server process runs.
    package var isRunning: Bool { supervisor.withLock { $0?.isRunning ?? false } }

    /// Kills the postmaster at once. The cluster must then be started again.
    package func killPostmaster() throws {
        kill(try postmaster, SIGKILL)
        supervisor.withLock { $0?.waitForEnd() }
    }

    /// Stops all processes of the server, as on a machine that hangs, or resumes them.
    package func freeze(_ isFrozen: Bool) throws {
        let postmaster = try postmaster
        let list = "/proc/\(postmaster)/task/\(postmaster)/children"
        let children = try String(contentsOfFile: list, encoding: .utf8).split(separator: " ")
        for process in [postmaster] + children.compactMap({ Int32($0) }) {
            kill(process, isFrozen ? SIGSTOP : SIGCONT)
        }
    }

    private var postmaster: Int32 {
        get throws {
            let file = try String(contentsOfFile: "\(data)/postmaster.pid", encoding: .utf8)
            guard let pid = file.split(separator: "\n").first.flatMap({ Int32($0) }) else {
                throw NeverHappened(description: "the postmaster has a process")
            }
            return pid
        }
    }

    /// Promotes a replica to the primary.
    package func promote() throws {
        try Self.run(Self.asOwner + ["\(Self.binaries)/pg_ctl", "--pgdata=\(data)", "promote"])
    }

    /// Creates a database: an empty one, or a copy of a database that has no connections.
    ///
    /// - Returns: Its name.
    package func makeDatabase(
        encoding: String = "UTF8",
        copying template: String = "template0"
    ) throws -> String {
        let name = "t\(databases.add(1, ordering: .relaxed).newValue)"
        try connect("postgres").connection.execute(
            """
            CREATE DATABASE \(name) TEMPLATE \(template) LOCALE 'C' ENCODING '\(encoding)'
            """
        )
        return name
    }

    /// Returns the URL of a database of this cluster, or of this cluster and others.
    package func url(_ database: String, or others: PostgresCluster...) -> String {
        let hosts = ([self] + others).map(\.socketFolder).joined(separator: ",")
        return "postgres://\(Self.user)@/\(database)?host=\(hosts)"
    }

    /// Opens a connection to one of the server's databases.
    package func connect(_ database: String) throws -> Link {
        let url = url(database) + "&target_session_attrs=any"
        return Link(try Connection(try ConnectionSettings(url: url)))
    }

    /// A connection that a test can keep in a constant.
    package final class Link {
        package let connection: Connection

        package init(_ connection: consuming Connection) {
            self.connection = connection
        }

        package var isUsable: Bool { connection.isUsable }
        package var isInTransaction: Bool { connection.isInTransaction }
    }

    /// - Returns: The command's output.
    @discardableResult
    static func run(_ command: [String]) throws -> String {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: command[0])
        process.arguments = Array(command.dropFirst())
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        let said = String(decoding: text, as: UTF8.self)
        guard process.terminationStatus == 0 else {
            throw NeverHappened(description: "\(command[0]) succeeds: \(said)")
        }
        return said
    }
}

/// The shared server. A global is never released, but the supervisor's pipe closes when the test
/// process ends.
private let sharedCluster = Swift.Result { try PostgresCluster() }
