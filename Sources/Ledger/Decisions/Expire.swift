internal import GotchuCore

/// Writes down what time has done to a session, if anything.
///
/// Nothing depends on it: every decision settles the session by itself. It is there so that those
/// who watch are told, and so that what is over leaves the indexes of what is alive.
func expire(_ id: SessionID, on books: inout Books, at time: Timestamp) -> Answer {
    guard let stored = books.rows.sessions[id] else { return .refused(Refusal(.unknownSession)) }
    let settled = stored.settled(at: time)
    if settled != stored { books.put(settled, at: time) }
    return .session(settled)
}

/// Writes the time, to prove that the books can be written.
func probe(_ books: inout Books, at time: Timestamp) -> Answer {
    books.probe(at: time)
    return .done
}
