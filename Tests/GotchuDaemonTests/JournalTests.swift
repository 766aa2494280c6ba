import Foundation
import GotchuAPI
import GotchuCore
import TestSupport
import Testing

@testable import GotchuDaemon

@Suite("The journal")
struct JournalTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    func payment(
        _ id: String,
        _ stage: MoneyStage<PaymentFlow.Progress> = .open(.locking),
        createdAt: Timestamp = Timestamp(milliseconds: 1)
    ) throws -> PaymentRecord {
        PaymentRecord(
            id: id,
            key: .random(),
            sid: try #require(SessionID(rawValue: "s-\(id)")),
            eid: EID(literal: "a1b2c3d4e5"),
            server: "http://127.0.0.1:8080",
            user: "ann",
            body: #"{"sid":"s"}"#,
            amountCents: 5000,
            currency: .usd,
            payee: "Café “Zur Post”",
            createdAt: createdAt,
            updatedAt: Timestamp(milliseconds: 1),
            stage: stage
        )
    }

    private var file: String { folder.path + "/journal" }

    @Test(
        "A reopened journal has the newest record of each payment; a journal in use does not open"
    )
    func reopen() async throws {
        var first = try payment("a")
        let journal = try Journal(folder: folder.path)
        try await journal.append(.payment(first))
        try await journal.append(.payment(try payment("b")))
        first.stage = .open(.sending)
        try await journal.append(.payment(first))
        #expect(throws: JournalFailure.inUse(folder: folder.path)) {
            try Journal(folder: folder.path)
        }
        await journal.close()
        try copyToNewFolder { copy in
            let again = try Journal(folder: copy)
            #expect(again.contentsAtStart.payments.map(\.id) == ["a", "b"])
            #expect(again.contentsAtStart.payments.first == first)
            #expect(!again.wasTorn)
        }
    }

    @Test(
        "A half-written last line is moved to another file, and the next record takes its place"
    )
    func torn() async throws {
        let journal = try Journal(folder: folder.path)
        let whole = try payment("a")
        try await journal.append(.payment(whole))
        let wholeLength = try Data(contentsOf: URL(fileURLWithPath: file)).count
        try await journal.append(.payment(try payment("b")))
        let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
        for length in stride(from: wholeLength + 1, to: bytes.count - 1, by: 7) {
            let torn = try TemporaryFolder()
            try bytes.prefix(length).write(to: URL(fileURLWithPath: torn.path + "/journal"))
            let reopened = try Journal(folder: torn.path)
            #expect(reopened.wasTorn)
            #expect(reopened.contentsAtStart.payments == [whole])
            let cut = try Data(contentsOf: URL(fileURLWithPath: torn.path + "/journal.torn"))
            #expect(cut == bytes[wholeLength..<length])
            try await reopened.append(.payment(try payment("c")))
            let kept = try Data(contentsOf: URL(fileURLWithPath: torn.path + "/journal"))
            let again = try TemporaryFolder()
            try kept.write(to: URL(fileURLWithPath: again.path + "/journal"))
            let ids = try Journal(folder: again.path).contentsAtStart.payments.map(\.id)
            #expect(ids == ["a", "c"])
        }
    }

    @Test("A journal with a damaged line in the middle does not open, and the error names the line")
    func corrupt() async throws {
        let journal = try Journal(folder: folder.path)
        for id in ["a", "b", "c"] { try await journal.append(.payment(try payment(id))) }
        var bytes = try Data(contentsOf: URL(fileURLWithPath: file))
        let secondLine = try #require(bytes.firstIndex(of: UInt8(ascii: "\n"))) + 20
        bytes[secondLine] ^= 1
        let damaged = try TemporaryFolder()
        try bytes.write(to: URL(fileURLWithPath: damaged.path + "/journal"))
        #expect(throws: JournalFailure.corrupt(file: damaged.path + "/journal", line: 2)) {
            try Journal(folder: damaged.path)
        }
    }

    /// Writes a payment to the journal in the step `locking`, and then in the step `sending`.
    @discardableResult
    private func journalSending() async throws -> PaymentRecord {
        let journal = try Journal(folder: folder.path)
        var record = try payment("a")
        try await journal.append(.payment(record))
        record.stage = .open(.sending)
        try await journal.append(.payment(record))
        return record
    }

    @Test(
        "A last record that lacks only its line feed is read, and the next line follows it"
    )
    func unended() async throws {
        let record = try await journalSending()
        let short = try TemporaryFolder()
        let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
        try bytes.dropLast().write(to: URL(fileURLWithPath: short.path + "/journal"))
        let reopened = try Journal(folder: short.path)
        #expect(reopened.contentsAtStart.payments == [record])
        try await reopened.append(.payment(try payment("b")))
        let kept = try Data(contentsOf: URL(fileURLWithPath: short.path + "/journal"))
        #expect(kept.prefix(bytes.count) == bytes)
    }

    @Test("With any one byte damaged, the journal does not open or still has the step `sending`")
    func flipped() async throws {
        try await journalSending()
        let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
        let damaged = try TemporaryFolder()
        for index in bytes.indices {
            for mask in [0x01, 0x0A, 0x20, 0x80, 0xFF] as [UInt8] {
                var flipped = bytes
                flipped[index] ^= mask
                try flipped.write(to: URL(fileURLWithPath: damaged.path + "/journal"))
                // The journal may open if the mask 0x20 only changes the case of a hex digit in a
                // checksum.
                let opened = try? Journal(folder: damaged.path)
                let stage = opened?.contentsAtStart.payments.first?.stage
                #expect(opened == nil || stage == .open(.sending), "byte \(index), mask \(mask)")
            }
        }
    }

    @Test(
        "A journal with a complete line of another version does not open and stays unchanged",
        arguments: [0, 1]
    )
    func foreign(following: Int) throws {
        let known = String(
            decoding: JournalLine.encode(.payment(try payment("a"))),
            as: UTF8.self
        )
        // A line with an unknown stage and a correct checksum.
        let later = #"20cba91a {"payment":{"_0":{"id":"b","stage":"held"}}}"# + "\n"
        let text = known + later + String(repeating: known, count: following)
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        #expect(throws: JournalFailure.foreign(file: file, line: 2)) {
            try Journal(folder: folder.path)
        }
        #expect(try String(contentsOfFile: file, encoding: .utf8) == text)
    }

    @Test("A record that could not be read back is refused, and the journal stays unchanged")
    func unreadable() async throws {
        let journal = try Journal(folder: folder.path)
        try await journal.append(.payment(try payment("a")))
        var record = try payment("b")
        record.updatedAt = Timestamp(milliseconds: -1)
        let before = try String(contentsOfFile: file, encoding: .utf8)
        await #expect(throws: JournalFailure.unreadable) {
            try await journal.append(.payment(record))
        }
        #expect(try String(contentsOfFile: file, encoding: .utf8) == before)
        try await journal.append(.payment(try payment("c")))
    }

    @Test(
        "A long journal is rewritten: open records stay, and only a limited number of ended records"
    )
    func rewritten() async throws {
        let open = try payment("open")
        var text: [UInt8] = JournalLine.encode(.payment(open))
        for index in 0..<JournalFile.lineLimit {
            text += JournalLine.encode(.payment(try payment("\(index)", .ended(.paid(Receipt())))))
        }
        try Data(text).write(to: URL(fileURLWithPath: file))
        let journal = try Journal(folder: folder.path)
        try await journal.append(.payment(try payment("new")))
        try await journal.append(.payment(try payment("newer")))
        try copyToNewFolder { copy in
            let again = try Journal(folder: copy).contentsAtStart
            #expect(again.lineCount == JournalContents.keptLimit + 3)
            #expect(again.payments.first == open)
            #expect(again.payments.suffix(2).map(\.id) == ["new", "newer"])
        }
    }

    @Test("A rewritten journal keeps the newest records by its order, whatever the clock has said")
    func wrongClock() throws {
        var contents = JournalContents()
        // The clock was a month ahead, and then a month behind.
        let (late, early) = (Timestamp(milliseconds: 1 << 45), Timestamp(milliseconds: 1))
        for index in 0..<JournalContents.keptLimit {
            contents.add(
                .payment(try payment("\(index)", .ended(.paid(Receipt())), createdAt: late))
            )
            contents.add(.request(try request("e\(index)", .expired, expiresAt: late)))
        }
        contents.add(.payment(try payment("today", .ended(.paid(Receipt())), createdAt: early)))
        contents.add(.request(try request("open", .advertising, expiresAt: early)))
        contents.add(.request(try request("today", .paid, expiresAt: early)))
        var kept = JournalContents()
        for record in contents.retainedRecords { kept.add(record) }
        let records = kept.records
        #expect(kept.payments.count == JournalContents.keptLimit)
        #expect(kept.payments.first?.id == "1" && kept.payments.last?.id == "today")
        let requests = records.compactMap { record in
            if case .request(let request) = record { request.sid.rawValue } else { nil as String? }
        }
        #expect(requests.first == "e1" && requests.suffix(2) == ["open", "today"])
    }

    private func request(
        _ id: String,
        _ state: RequestView.State,
        expiresAt: Timestamp
    ) throws -> RequestRecord {
        RequestRecord(
            sid: try #require(SessionID(rawValue: id)),
            eid: EID(literal: "a1b2c3d4e5"),
            server: "http://127.0.0.1:8080",
            amountCents: 100,
            currency: .usd,
            memo: nil,
            createdAt: expiresAt,
            expiresAt: expiresAt,
            state: state
        )
    }

    @Test(
        "A write that reaches the size limit leaves no partial record, and a later write succeeds"
    )
    func fullDisk() async {
        // The test runs in a process of its own, because the limit that simulates a full disk
        // applies to a whole process.
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            let file = folder.path + "/journal"
            let suite = try JournalTests()
            let journal = try Journal(folder: folder.path)
            try await journal.append(.payment(try suite.payment("a")))
            let length = try Data(contentsOf: URL(fileURLWithPath: file)).count
            signal(SIGXFSZ, SIG_IGN)
            let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
            var limit = rlimit()
            getrlimit(resource, &limit)
            var tight = rlimit(rlim_cur: rlim_t(length + 10), rlim_max: limit.rlim_max)
            setrlimit(resource, &tight)
            await #expect(throws: JournalFailure.self) {
                try await journal.append(.payment(try suite.payment("b")))
            }
            #expect(try Data(contentsOf: URL(fileURLWithPath: file)).count == length)
            setrlimit(resource, &limit)
            try await journal.append(.payment(try suite.payment("c")))
            let copy = try TemporaryFolder()
            try FileManager.default.copyItem(atPath: file, toPath: copy.path + "/journal")
            let kept = try Journal(folder: copy.path).contentsAtStart.payments
            #expect(kept.map(\.id) == ["a", "c"])
        }
    }

    @Test("Nothing is written, and no check passes, once the file was removed or replaced")
    func removed() async throws {
        let journal = try Journal(folder: folder.path)
        var outcomes = journal.outcomes.makeAsyncIterator()
        let gone = JournalFailure.removed(file: file)
        try await journal.append(.payment(try payment("a")))
        try FileManager.default.moveItem(atPath: file, toPath: file + ".away")
        for _ in 0..<2 {
            await #expect(throws: gone) {
                try await journal.append(.payment(try self.payment("b")))
            }
            await journal.check()
            #expect(await outcomes.next() == .some(.some(gone)))
            // Another file in its place is not the journal either.
            try? Data().write(to: URL(fileURLWithPath: file))
        }
        try FileManager.default.removeItem(atPath: file)
        try FileManager.default.moveItem(atPath: file + ".away", toPath: file)
        try await journal.append(.payment(try payment("c")))
        try copyToNewFolder { copy in
            let kept = try Journal(folder: copy).contentsAtStart.payments
            #expect(kept.map(\.id) == ["a", "c"])
        }
    }

    /// Calls `body` with a new folder that has a copy of the journal. The open original is locked.
    private func copyToNewFolder(_ body: (String) throws -> Void) throws {
        let copy = try TemporaryFolder()
        try FileManager.default.copyItem(atPath: file, toPath: copy.path + "/journal")
        try body(copy.path)
    }
}

extension JournalContents {
    fileprivate var payments: [PaymentRecord] {
        records.compactMap { record in
            if case .payment(let payment) = record { payment } else { nil as PaymentRecord? }
        }
    }
}
