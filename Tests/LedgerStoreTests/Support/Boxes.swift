import GotchuCore
import Ledger
import LedgerTestSupport

/// A command that creates or changes a box, which is a kind of record for tests. A box belongs to
/// the first user, and its body is the number of its children.
struct OpenBox: LedgerCommand {
    static let name = "open-box"
    static let kind = "box"

    var number = 0
    var children = 0
    var dueAt: Int64?

    static func id(_ number: Int) -> RecordID { RecordID(trusted: "box-\(number)") }

    static func child(_ child: Int64, of number: Int) -> RecordID {
        RecordID(trusted: "box-\(number)-\(child)")
    }

    func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        footprint.records.insert(Self.id(number))
    }

    func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> RecordID {
        let id = Self.id(number)
        let known = books.rows.records[id]
        let count = Int(known?.body ?? "") ?? 0
        books.put(record(id, version: (known?.version ?? 0) + 1, body: "\(count + children)"))
        for child in 0..<children {
            let number = Int64(count + child + 1)
            books.add(
                child: record(Self.child(number, of: self.number), version: 1, body: "0"),
                of: id,
                number: number
            )
        }
        return id
    }

    private func record(_ id: RecordID, version: Int64, body: String) -> Record {
        Record(
            id: id,
            kind: Self.kind,
            owner: Cast.users[0],
            state: "OPEN",
            version: version,
            createdAt: Timestamp(milliseconds: 0),
            dueAt: dueAt.map { Timestamp(milliseconds: $0) },
            body: body
        )
    }
}

extension RecordRule {
    /// The rule that a box has as many children as its body says, numbered from 1.
    static let boxes = RecordRule(
        kind: OpenBox.kind,
        rule: "every box has the children that it says (boxes)",
        readsChildren: true
    ) { record, file in
        let numbers = file.children.map(\.number)
        guard let count = Int64(record.body), numbers == Array(1..<count + 1) else {
            return "box \(record.id) has the children \(numbers)"
        }
        return nil
    }
}

/// Closes all children of a box. The command knows the box, but not its children.
struct CloseChildren: LedgerCommand {
    static let name = "close-children"

    let number: Int

    func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        footprint.children.insert(OpenBox.id(number))
    }

    func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> [String] {
        let children = books.rows.children[OpenBox.id(number), default: [:]]
            .sorted { $0.key < $1.key }
        for child in children.compactMap({ books.rows.records[$0.value] }) {
            books.put(
                Record(
                    id: child.id,
                    kind: child.kind,
                    owner: child.owner,
                    state: "CLOSED",
                    version: child.version + 1,
                    createdAt: child.createdAt,
                    dueAt: nil,
                    body: child.body
                )
            )
        }
        return children.map(\.value.rawValue)
    }
}

/// Claims or releases a name. The outcome is true if the target has the name afterwards, or if the
/// name was released.
struct ClaimName: LedgerCommand {
    static let name = "claim-name"

    private let text: String
    private let target: String
    private let until: Timestamp?
    private let time: Timestamp
    private let isReleased: Bool

    init(_ text: String, for target: String, until: Int64?, at time: Int64 = 1_000) {
        (self.text, self.target, isReleased) = (text, target, false)
        self.until = until.map { Timestamp(milliseconds: $0) }
        self.time = Timestamp(milliseconds: time)
    }

    init(releasing text: String, at time: Int64) {
        (self.text, target, until, isReleased) = (text, "", nil, true)
        self.time = Timestamp(milliseconds: time)
    }

    func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        footprint.names.insert(text)
    }

    func decide(on books: inout Books, at _: Timestamp) throws(Refusal) -> Bool {
        guard !isReleased else {
            books.release(text, at: time)
            return true
        }
        return books.claim(text, for: target, until: until, at: time)
    }
}
