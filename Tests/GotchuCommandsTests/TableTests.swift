import Testing

@testable import GotchuCommands

@Suite("A table on a terminal that is too narrow")
struct TableTests {
    private let table: Table

    init() {
        var table = Table(columns: [
            Table.Column(title: "WHEN"),
            Table.Column(title: "WHAT", minimum: 8, dispensability: 1),
            Table.Column(title: "ID", dispensability: 2),
        ])
        table.rows = [
            [
                Table.Cell("2026-11-22 03:18"), Table.Cell("Tea and a very long memo"),
                Table.Cell("01a20142-0c0d-7e59-bda7-d8095dcb22f8"),
            ]
        ]
        self.table = table
    }

    @Test("cuts what can be cut, then leaves out what matters least and gives its room back")
    func layout() {
        #expect(table.layout(limit: .max).widths == [16, 24, 36])
        let cut = table.layout(limit: 70)
        #expect(cut.kept == [0, 1, 2] && cut.widths == [16, 14, 36])
        // Without the id there is room for all of the rest.
        let short = table.layout(limit: 60)
        #expect(short.kept == [0, 1] && short.widths.prefix(2) == [16, 24])
        let shorter = table.layout(limit: 30)
        #expect(shorter.kept == [0, 1] && shorter.widths.prefix(2) == [16, 12])
        #expect(table.layout(limit: 20).kept == [0])
    }
}
