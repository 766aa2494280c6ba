/// The stories told in a real browser, in their order: a function each in `browser/stories`,
/// whose first line says what is told.
enum Story: String, CaseIterable, Sendable {
    case judges
    case sale, quick, released, preparing, killed, truth, silent, near, adapter, newest, displays,
        console
    case keyboard, once, scanner, pairing, limit, report, cashier, trouble, update
    case merchant, strangers, scriptless, paging, manage, markup, database, phone, states, code,
        languages
    case deposit, withdrawal, provider, contest, roster
    case hosts, foreign
    case policy, faults, fit, enlarged, pictures, month, motion, soak, upgrade
}
