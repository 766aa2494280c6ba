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
        guard let current = now(session, time) else { return .refused(.unknownSession) }
        guard current.payee == user else { return .refused(.forbidden) }
        if let reason = endReason(of: current) { return .refused(reason) }
        if let replaces, replaces != current.eid {
            guard let name = names[replaces], name.session == session, let until = name.until
            else { return .refused(.unknownEID) }
            return .rotated(eid: current.eid, replaced: replaces, until: until)
        }
        guard names[eid] == nil else { return .refused(.noFreeEID) }
        let until = min(time + 60_000, current.ends)
        names[current.eid]?.until = until
        names[eid] = Name(session: session)
        var next = current
        next.eid = eid
        _ = write(session, next, next.status, payer: next.payer)
        return .rotated(eid: eid, replaced: current.eid, until: until)
    }
}
