/// The names of the statements that one connection has prepared, by their text.
///
/// The texts are constants of the program, so their number is bounded by it; the limit is there to
/// catch text that is not.
final class PreparedStatements {
    private static let limit = 256

    private var names: [String: String] = [:]

    /// The name under which a statement is known to the server, if it is.
    func name(of sql: String) -> String? { names[sql] }

    /// A name for a statement that is about to be prepared.
    func newName(position: Int) -> String { "s\(names.count)_\(position)" }

    func remember(_ name: String, for sql: String) {
        precondition(names.count < Self.limit, "SQL must be constant text with bound values")
        names[sql] = name
    }
}
