/// Stretches that have been sealed, but so lately that a transfer with a name in one of them may
/// still be on its way to the books.
///
/// Transfers are only ever inserted: a stretch that has as many as before has no other ones, and to
/// count them costs a small part of what reading them does.
struct Settling {
    /// What is counted together: where there are more than before, so much is read again.
    static let longest: Duration = .seconds(1)

    private(set) var stretches: [Stretch] = []

    /// Adds what follows the last one, or what that has grown to be.
    mutating func add(_ new: Stretch) {
        let earliest = new.end.earlier(by: Self.longest).rawValue
        if let last = stretches.last, last.end == new.start, let start = last.start,
            start.rawValue >= earliest
        {
            stretches[stretches.count - 1] = Stretch(
                start: start,
                end: new.end,
                count: last.count + new.count
            )
        } else {
            stretches.append(new)
        }
    }

    mutating func replace(at index: Int, with stretch: Stretch) {
        stretches[index] = stretch
    }

    /// Forgets those that end before a name.
    mutating func forget(before name: TransferID) {
        stretches.removeAll { $0.end.rawValue < name.rawValue }
    }
}
