/// The names of one connection's prepared statements, by SQL text.
///
/// The texts are constants in the program, which bounds their number; the limit detects text that
/// is not constant.
final class PreparedStatements {
    private static let limit = 256

    private var names: [String: String] = [:]

    /// Returns the name of a prepared statement; `nil` if it is not prepared.
    func name(of sql: String) -> String? { names[sql] }

    /// Returns a new name for a statement that is about to be prepared.
    func newName(position: Int) -> String { "s\(names.count)_\(position)" }

    func remember(_ name: String, for sql: String) {
        precondition(names.count < Self.limit, "SQL must be constant text with bound values")
        names[sql] = name
    }
}
