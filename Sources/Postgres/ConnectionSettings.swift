internal import CPostgres
internal import Glibc

/// The address of a database and its credentials, from a `postgres://` URL parsed by libpq: several
/// hosts, `service`, `passfile`, `sslmode` and the `PG…` variables work as usual.
///
/// No part of the URL that could be a password ever appears in an error.
package struct ConnectionSettings: Sendable {
    /// The default parameters, unless the URL or the environment sets others.
    ///
    /// A dead peer is detected within about ten seconds. Of several hosts, the one that accepts
    /// writes is used, so that the client follows a failover to a replica.
    private static let defaults = [
        ("connect_timeout", "5"),
        ("target_session_attrs", "read-write"),
        ("keepalives_idle", "5"),
        ("keepalives_interval", "2"),
        ("keepalives_count", "3"),
        ("tcp_user_timeout", "10000"),
        ("fallback_application_name", "gotchu-server"),
    ]
    /// The parameters that the URL cannot override.
    private static let fixed = [("client_encoding", "UTF8")]

    let options: [(keyword: String, value: String)]
    /// A Boolean that is true if the URL itself contains a password, which other users of the
    /// machine may then be able to read.
    package let holdsPassword: Bool

    /// - Throws: `malformedAddress`.
    package init(url: String) throws(PostgresError) {
        let rest = url.drop { $0 != ":" }.dropFirst(3)
        // libpq ends the password at the first `@` and treats the rest of it as a host, which its
        // error would reveal.
        guard rest.prefix(while: { $0 != "/" && $0 != "?" }).count(where: { $0 == "@" }) <= 1 else {
            throw .malformed("Within a password @ is written as %40.")
        }
        guard let parsed = PQconninfoParse(url, nil) else {
            if let name = Self.unknownParameter(in: url) {
                throw .malformed("PostgreSQL has no parameter \(name).")
            }
            throw .malformed("It cannot be read as postgres://USER@HOST/DATABASE?NAME=VALUE.")
        }
        defer { PQconninfoFree(parsed) }
        var options: [(String, String)] = []
        var known: Set<String> = []
        var option = parsed
        while let keyword = option.pointee.keyword.map({ String(cString: $0) }) {
            if let value = option.pointee.val.map({ String(cString: $0) }) {
                options.append((keyword, value))
                known.insert(keyword)
            } else if let variable = option.pointee.envvar, getenv(variable) != nil {
                known.insert(keyword)
            }
            option += 1
        }
        for (keyword, value) in options where keyword == "port" {
            guard value.utf8.allSatisfy({ $0 == 0x2C || (0x30...0x39).contains($0) }) else {
                throw .malformed("A port is a number; within a password / is written as %2F.")
            }
        }
        holdsPassword = options.contains { $0.0 == "password" || $0.0 == "sslpassword" }
        options.removeAll { (keyword, _) in Self.fixed.contains { $0.0 == keyword } }
        options += Self.defaults.filter { !known.contains($0.0) } + Self.fixed
        self.options = options
    }

    /// Returns the first parameter that libpq does not know. Text that may be part of a password is
    /// never returned.
    private static func unknownParameter(in url: String) -> String? {
        guard let query = url.firstIndex(of: "?").map({ url[$0...].dropFirst() }),
            !query.contains("@"), let defaults = PQconndefaults()
        else { return nil }
        defer { PQconninfoFree(defaults) }
        // libpq accepts this parameter for compatibility with JDBC URLs.
        var known: Set<Substring> = ["ssl"]
        var option = defaults
        while let keyword = option.pointee.keyword.map({ String(cString: $0) }) {
            known.insert(Substring(keyword))
            option += 1
        }
        for parameter in query.split(separator: "&") {
            let parts = parameter.split(separator: "=", omittingEmptySubsequences: false)
            guard parts.count == 2, let name = parts.first, !name.hasSuffix("password"),
                name.utf8.allSatisfy({ $0 == 0x5F || (0x61...0x7A).contains($0) })
            else { return nil }
            if !known.contains(name) { return String(name) }
        }
        return nil
    }

    /// Calls `body` with the null-terminated arrays of keywords and values that libpq expects.
    func withArrays<Result>(
        _ body: (
            UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<UnsafePointer<CChar>?>?
        ) -> Result
    ) -> Result {
        let keywords = options.map { strdup($0.keyword) }
        let values = options.map { strdup($0.value) }
        defer { for text in keywords + values { free(text) } }
        let names = keywords.map { UnsafePointer($0) } + [nil]
        let contents = values.map { UnsafePointer($0) } + [nil]
        return names.withUnsafeBufferPointer { names in
            contents.withUnsafeBufferPointer { body(names.baseAddress, $0.baseAddress) }
        }
    }
}

extension PostgresError {
    fileprivate static func malformed(_ why: String) -> PostgresError {
        PostgresError(.malformedAddress, message: "The database's URL is malformed. " + why)
    }
}
