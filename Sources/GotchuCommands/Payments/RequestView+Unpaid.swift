import GotchuAPI

extension RequestView {
    /// Returns what became of an expired or cancelled request. For a shared bill or a desk, this
    /// includes what was paid: `Cancelled · 2 of 3 paid · $4.00 of $6.00`.
    func unpaidText(on terminal: Terminal) -> String {
        let isExpired = state == .expired
        let end = terminal.paint(isExpired ? "Expired" : "Cancelled", .yellow)
        guard let progress else {
            return "\(end) · \(isExpired ? "nobody paid in time" : "nobody was charged")"
        }
        let note = isAllOrNothing == true ? " · whatever was paid has gone back" : ""
        return "\(end) · \(progress)\(note)"
    }
}
