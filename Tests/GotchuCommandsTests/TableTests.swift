import Testing

@testable import GotchuCommands

@Suite("A table on a terminal that is too narrow")
struct TableTests {
    private let table: Table

    init() {
        var table = Table(columns: [
            Table.Column(title: "WHEN"),
            Table.Column(title: "WHAT", minimumWidth: 8, dropPriority: 1),
            Table.Column(title: "ID", dropPriority: 2),
        ])
        table.rows = [
            [
                Table.Cell("2026-11-22 03:18"), Table.Cell("Tea and a very long memo"),
                Table.Cell("01a20142-0c0d-7e59-bda7-d8095dcb22f8"),
            ]
        ]
        self.table = table
    }

    @Test("A table shortens columns first, and then drops the least important columns")
    func layout() {
        #expect(table.layout(limit: .max).widths == [16, 24, 36])
        let cut = table.layout(limit: 70)
        #expect(cut.kept == [0, 1, 2] && cut.widths == [16, 14, 36])
        // Without the id column, the other columns have their full width.
        let short = table.layout(limit: 60)
        #expect(short.kept == [0, 1] && short.widths.prefix(2) == [16, 24])
        let shorter = table.layout(limit: 30)
        #expect(shorter.kept == [0, 1] && shorter.widths.prefix(2) == [16, 12])
        #expect(table.layout(limit: 20).kept == [0])
        // A terminal wraps a line that is too long, and would show the next frame in a wrong place.
        for limit in 4...20 {
            let (kept, widths) = table.layout(limit: limit)
            #expect(kept.map { widths[$0] }.reduce(0, +) <= limit, "\(limit)")
        }
    }

    @Test("The height of a drawing includes the lines that a narrower terminal has wrapped")
    func reflow() {
        let drawn = [100, 40, 0]
        #expect(LiveRegion.height(of: drawn, width: 100) == 3)
        #expect(LiveRegion.height(of: drawn, width: 40) == 5)
        #expect(LiveRegion.height(of: drawn, width: 20) == 8)
        #expect(LiveRegion.height(of: drawn, width: nil) == 3)
        #expect(LiveRegion.height(of: [], width: 20) == 0)
    }

    @Test("Messages are held while a live region is drawn, and written at its end")
    func heldMessages() {
        let held = HeldMessages()
        var written: [String] = []
        held.hold("a") { written.append($0) }
        #expect(written == ["a"])
        held.begin()
        for text in ["b", "c"] { held.hold(text) { written.append($0) } }
        #expect(written == ["a"])
        #expect(held.take() == ["b", "c"] && held.take().isEmpty)
        held.hold("d") { written.append($0) }
        held.end { written.append($0) }
        held.hold("e") { written.append($0) }
        #expect(written == ["a", "d", "e"])
    }
}
