internal import Ledger

/// Changes of EIDs.
extension ReferenceModel {
    mutating func rotate(
        _ session: Int,
        _ user: Int,
        _ eid: Int,
        _ replaces: Int?,
        _ time: Int64
    ) -> Reply {
        guard let deal = now(session, time) else { return .no(.unknownSession) }
        guard deal.payee == user else { return .no(.forbidden) }
        if let over = over(deal) { return .no(over) }
        if let replaces, replaces != deal.eid {
            guard let name = names[replaces], name.session == session, let until = name.until
            else { return .no(.unknownEID) }
            return .rotated(eid: deal.eid, replaced: replaces, until: until)
        }
        guard names[eid] == nil else { return .no(.noFreeEID) }
        let until = min(time + 60_000, deal.ends)
        names[deal.eid]?.until = until
        names[eid] = Name(session: session)
        var next = deal
        next.eid = eid
        _ = write(session, next, next.mark, holder: next.holder)
        return .rotated(eid: eid, replaced: deal.eid, until: until)
    }
}
