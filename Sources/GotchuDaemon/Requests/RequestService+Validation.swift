import GotchuAPI
import GotchuCore

extension RequestService {
    /// The longest memo, in characters.
    static let memoLimit = 140
    /// The time for which a request with one payer may be open, in seconds.
    static let allowedSeconds = 1...300
    /// The time for which a request that several payers share may be open, in seconds.
    static let allowedSplitSeconds = 1...3_600
    /// The time for which a contest desk may be open, in seconds.
    static let allowedDeskSeconds = 1...43_200

    static func validate(_ new: NewRequest) throws(Problem) {
        guard Money.allowedRequest.contains(new.amountCents) else {
            throw Problem.invalid("amount_cents must be 1 to \(Money.allowedRequest.upperBound).")
        }
        let isDesk = new.contestID != nil
        let allowed =
            isDesk ? allowedDeskSeconds : new.split == nil ? allowedSeconds : allowedSplitSeconds
        guard !isDesk || new.split == nil && new.allowsTip != true else {
            throw Problem.invalid("contest_id goes with neither split nor allows_tip.")
        }
        if let seconds = new.ttlSeconds, !allowed.contains(seconds) {
            throw Problem.invalid("ttl_seconds must be 1 to \(allowed.upperBound).")
        }
        if let split = new.split { try validate(split, of: new) }
        if let memo = new.memo, memo.unicodeScalars.count > memoLimit {
            throw Problem.invalid("memo may have \(memoLimit) characters at most.")
        }
    }

    private static func validate(_ split: SplitTerms, of new: NewRequest) throws(Problem) {
        guard (split.shares == nil) != (split.shareCents == nil) else {
            throw Problem.invalid("split must have either shares or share_cents.")
        }
        guard SplitTerms.allowedShares.contains(split.count) else {
            throw Problem.invalid("A split has 2 to 50 shares.")
        }
        let shares = split.shareCents ?? []
        guard shares.allSatisfy(Money.allowedRequest.contains),
            split.shareCents == nil || shares.reduce(0, +) == new.amountCents,
            Int64(split.count) <= new.amountCents
        else {
            throw Problem.invalid(
                "Each share must be at least the smallest amount, and together they must be the "
                    + "whole amount."
            )
        }
        guard new.allowsTip != true else {
            throw Problem.invalid("A split allows no tip.")
        }
    }
}

extension SessionReply {
    /// Returns the names of the members that are impossible for a session, or not those of the
    /// request that created it here.
    ///
    /// - Parameter request: The request of this id; `nil` if this machine does not have it.
    func wrongMembers(for id: SessionID, _ request: RequestRecord?) -> [String] {
        let (amount, tip) = (amountCents.value, tipCents?.value ?? 0)
        let isAmountAllowed = Money.allowedRequest.contains(amount)
        let isTipAllowed =
            isAmountAllowed && Money.allowedTip(on: amount).contains(tip)
            && (tip == 0 || request == nil || request?.tipCents != nil)
        let paid = isTipAllowed ? amount + tip : 0
        let members = [
            ("session", sid == id),
            ("amount", isAmountAllowed && amount == request?.amountCents ?? amount),
            ("currency", (currency ?? .usd) == request?.currency ?? currency ?? .usd),
            ("tip", isTipAllowed),
            ("refund", (0...paid).contains(refundedCents?.value ?? 0)),
        ]
        return members.filter { !$0.1 }.map(\.0)
    }
}

extension SplitTerms {
    var count: Int { shareCents?.count ?? shares ?? 0 }
}

extension Places {
    /// Creates the places of a bill of which nobody has paid a share yet.
    init(_ split: SplitTerms) {
        self.init(
            kind: Places.split,
            places: Int64(split.count),
            paid: 0,
            held: 0,
            paidCents: WireInteger(0)
        )
    }
}
