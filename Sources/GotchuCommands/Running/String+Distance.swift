extension String {
    /// Returns the number of edits (changes, insertions, deletions, swaps of neighbours) that turn
    /// this word into the other (optimal string alignment).
    func distance(to other: String) -> Int {
        let (left, right) = (Array(self), Array(other))
        var rows = [Array(0...right.count)]
        for (index, letter) in left.enumerated() {
            let above = rows[index]
            var row = [index + 1]
            for (column, otherLetter) in right.enumerated() {
                let change = above[column] + (letter == otherLetter ? 0 : 1)
                var least = Swift.min(change, above[column + 1] + 1, row[column] + 1)
                if index > 0, column > 0, letter == right[column - 1],
                    left[index - 1] == otherLetter
                {
                    least = Swift.min(least, rows[index - 1][column - 1] + 1)
                }
                row.append(least)
            }
            rows.append(row)
        }
        return rows[left.count][right.count]
    }
}
