/// The reason why the journal cannot be used.
enum JournalFailure: Error, Equatable, Sendable {
    /// Another gotchud uses this state folder.
    case inUse(folder: String)
    /// A file operation failed. `reason` is the system's error message.
    case system(operation: String, reason: String)
    /// The file was removed or replaced while it was in use. Nothing more is written.
    case removed(file: String)
    /// A write failed, and could not be undone. The record may be read at the next start. Nothing
    /// more is written before it is undone.
    case uncertain(operation: String, reason: String)
    /// A line is damaged, but not by an incomplete write. The disk or a person has changed it.
    case corrupt(file: String, line: Int)
    /// A line is intact, but this version of gotchud does not know its format.
    case foreign(file: String, line: Int)
    /// A record's encoded line could not be decoded. The line was not written.
    case unreadable

    /// One sentence for the user.
    var sentence: String {
        switch self {
        case .inUse(let folder): "Another gotchud uses the state folder \(folder)."
        case .system(let operation, let reason):
            "The journal cannot be used: \(operation): \(reason)."
        case .removed(let file): "The journal \(file) was removed or replaced."
        case .uncertain(let operation, let reason):
            "It is not known whether this was recorded: the journal can be neither written nor "
                + "restored: \(operation): \(reason)."
        case .corrupt(let file, let line):
            "Line \(line) of \(file) is damaged, so payments may be missing from it."
        case .foreign(let file, let line):
            "Line \(line) of \(file) was written by another version of gotchud than this one."
        case .unreadable: "A record of the journal cannot be written so that it can be read again."
        }
    }

    /// The next step for the user.
    var fix: String {
        switch self {
        case .inUse: "Stop the other one, or give this one its own folder with --state."
        case .uncertain: "gotchu-ctl history, before it is done again; then gotchu-ctl doctor"
        case .system: "Check the folder's owner, its mode and the free space: df -h, ls -ld."
        case .removed:
            "Move the file back. Without it, compare open payments with the payment server before "
                + "you restart gotchud."
        case .corrupt:
            "Keep a copy, compare open payments with the payment server, then move the file away."
        case .foreign: "Install the version that wrote it again, or a later one."
        case .unreadable: "Please report it: gotchu-ctl bugreport"
        }
    }
}
