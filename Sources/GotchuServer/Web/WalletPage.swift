internal import GotchuAPI
internal import GotchuCore
internal import HTTPTypes
internal import Hummingbird
internal import Ledger
internal import LedgerStore
internal import Pages
internal import Payments

/// The page of a person's wallets. It shows one wallet's balance and history, newest first, and the
/// deposits on the first page of the wallet in dollars.
struct WalletPage: Sendable {
    let ledger: Ledger
    let store: any Store
    let deposits: DepositPages

    @Sendable func show(_ visit: WebVisit) async throws -> Response {
        let (request, before) = (visit.request, FundingPage.field)
        var query = try QueryParameters(page: request, "currency", "cursor", before)
        let (name, cursor) = (query.text("currency"), query.text("cursor"))
        let deposit = query.text(before)
        // The currencies are in the order of `Currency`: dollars come first.
        let known = try await store.currencies(of: visit.user)
        let currencies = Currency.allCases.filter(known.contains)
        let asked = try name.map { name throws(Problem) in
            guard let currency = Currency(rawValue: name) else {
                throw .invalid("The currency must be a known ISO 4217 code in lower case.")
            }
            return currency
        }
        guard let currency = asked ?? currencies.first, currencies.contains(currency) else {
            throw Problem(.notFound, detail: "You have no such wallet here.")
        }
        let isFirst = cursor == nil && currency == FundingOperations.currency
        let money: (content: HTML?, isWaiting: Bool) =
            isFirst ? try await deposits.panels(for: visit, after: deposit) : (nil, false)
        let history = try await history(of: Account.Key(.user(visit.user), currency), cursor)
        let choice = currencies.map { each in
            (each.rawValue.uppercased(), WebPath.wallet(in: each), each == currency)
        }
        let (language, words) = (visit.language, visit.language.wallet)
        let pay: HTML? =
            visit.allows(.payer)
            ? "<a class=\"plain\" href=\"\(WebPath.enterEID)\">\(language.pay.pay)</a>" : nil
        return try WebPage(
            title: language.layout.wallet,
            section: .wallet,
            style: .pay,
            asOf: cursor == nil ? visit.localizedZone.time(visit.now, hasFullDate: true) : nil,
            refreshInterval: money.isWaiting
                ? DepositPages.refreshInterval : WebPage.defaultRefreshInterval,
            policy: .formsRedirecting(to: deposits.funding.pageOrigins),
            language: language,
            controls: """
                \(choice.count > 1 ? .choice(words.currency, choice) : nil)\
                \(pay)\
                <a class="plain" href="\(WebPath.wallet(in: currency))">\(words.refresh)</a>
                """,
            content: """
                \(Self.balance(history.account, visit))
                \(money.content)
                \(Self.list(history, try await payees(in: history), visit))
                """
        ).response(for: visit)
    }

    /// Reads one page of a wallet's history. If there is a cursor, reads the wallet first, to check
    /// the cursor against it.
    private func history(of key: Account.Key, _ cursor: String?) async throws -> AccountHistory {
        func page(_ start: HistoryRange.Start, _ limit: Int64) async throws -> AccountHistory {
            let range = HistoryRange(start, limit: Int(limit))
            guard let found = try await ledger.history(of: key, range) else {
                throw LedgerError.corrupt("a user's accounts")
            }
            return found
        }
        guard let cursor else {
            return try await page(.newest(skipping: 0), HistoryRoutes.defaultLimit)
        }
        let newest = try await page(.newest(skipping: 0), 1)
        guard let place = HistoryCursor(cursor, of: newest.account) else {
            throw Problem.invalid("The page is none of this wallet's.")
        }
        return try await page(.before(place.number), HistoryRoutes.defaultLimit)
    }

    /// Reads the names of the payees in a history, other than the wallet's owner.
    private func payees(in history: AccountHistory) async throws -> [UserID: String] {
        var names: [UserID: String] = [:]
        for (entry, record) in history.entries {
            guard let payee = try record?.session?.payee, entry.account.owner != .user(payee),
                names[payee] == nil
            else { continue }
            names[payee] = try await store.user(id: payee, orLogin: "")?.displayName
        }
        return names
    }

    private static func balance(_ account: Account, _ visit: WebVisit) -> HTML {
        let balance = Money(minorUnits: account.balance, currency: account.key.currency)
        return """
            <section class="panel wallet"><h2>\(visit.language.wallet.balance)</h2>
            <p class="amount">\(visit.language.text(balance))</p>
            <p class="quiet">\(visit.localizedZone.time(visit.now)), \
            <bdi>\(visit.zone.name)</bdi></p>
            </section>
            """
    }

    private static func list(
        _ history: AccountHistory,
        _ payees: [UserID: String],
        _ visit: WebVisit
    ) throws -> HTML {
        let words = visit.language.wallet
        guard let last = history.entries.last?.entry.number else {
            return """
                <section class="panel empty"><b>\(words.nothingYet)</b>\(words.paymentsHere)\
                </section>
                """
        }
        let rows = try history.entries.map { try row($0.entry, $0.record, payees, visit) }
        let path = WebPath.wallet(in: history.account.currency)
        let cursor = HistoryCursor(after: last).text(for: history.account)
        let sign = path.contains("?") ? "&" : "?"
        let older: HTML? = last > 1 ? .more("\(path)\(sign)cursor=\(cursor)", words.older) : nil
        let columns = [
            (words.when, ""), (words.what, "what"), (words.amount, "n"), (words.balance, "n aside"),
        ]
        return """
            <section class="panel"><h2>\(words.history)</h2>
            \(HTML.list(columns, rows))\(older)</section>
            """
    }

    private static func row(
        _ entry: Entry,
        _ record: Record?,
        _ payees: [UserID: String],
        _ visit: WebVisit
    ) throws -> HTML {
        let (language, words) = (visit.language, visit.language.wallet)
        let kind = try TransferKind.of(entry)
        let currency = entry.account.currency
        let amount = Money(minorUnits: entry.amount, currency: currency)
        let balance = Money(minorUnits: entry.balance, currency: currency)
        let session = try record?.session
        let payee = session.flatMap { payees[$0.payee] }
        let what: HTML =
            switch entry.isDebit ? kind.debit : kind.credit {
            case .deposit: "\(words.deposit)"
            case .debit: named(payee, words.paidTo, words.paid)
            case .credit: "\(words.received)"
            case .refund where entry.isDebit: "\(words.refundGiven)"
            case .refund: named(payee, words.refundFrom, words.refundReceived)
            }
        let memo = session?.memo.map { "<br><bdi class=\"quiet\">\($0)</bdi>" as HTML }
        return """
            <tr><td>\(visit.localizedZone.time(entry.at))</td><td class="what">\(what)\(memo)</td>
            <td class="n">\(language.text(amount, isAdded: !entry.isDebit))</td>
            <td class="n aside">\(language.text(balance))</td></tr>
            """
    }

    /// Returns `text` with the payee's name filled in; `other` if the payee is unknown.
    private static func named(_ payee: String?, _ text: String, _ other: String) -> HTML {
        payee.map { HTML.filled(text, "<bdi>\($0)</bdi>") } ?? "\(other)"
    }
}
