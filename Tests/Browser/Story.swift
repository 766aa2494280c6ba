/// The stories that are played in a real browser, in order. Each is a function in
/// `browser/stories`, and the function's docstring describes the story.
enum Story: String, CaseIterable, Sendable {
    case judges
    case sale, quick, released, preparing, killed, truth, silent, near, adapter, newest, displays,
        console
    case keyboard, once, copy, scanner, pairing, limit, report, cashier, trouble, update
    case merchant, strangers, scriptless, paging, manage, markup, database, phone, states, code,
        languages
    case deposit, withdrawal, provider, contest, roster
    case hosts, foreign
    case policy, faults, fit, enlarged, pictures, month, motion, soak, upgrade
}
