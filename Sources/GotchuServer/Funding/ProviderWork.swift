internal import Funding
internal import GotchuAPI
internal import GotchuCore
internal import Ledger

/// The work at the provider that a caller waits for.
protocol ProviderWork: Sendable {
    /// A Boolean that is true with real money.
    var isLive: Bool { get }
    /// The key with which apps show the provider's form.
    var publishableKey: String? { get }

    /// The origins of its pages, to which people are sent.
    var sites: [String] { get }

    /// Makes the calls that a new deposit needs, as `drive` does.
    func open(_ deposit: RecordID) async -> String?

    /// Has records looked at, and waits for that no longer than a page may.
    func refresh(_ records: [RecordID]) async

    /// Makes the calls that a record needs now, until none is left or one has no answer.
    ///
    /// - Returns: The client secret or the page's address that came last, if one did.
    func drive(_ record: RecordID) async -> String?

    /// Makes a fresh link to the pages on which a payee says who they are.
    ///
    /// - Parameter ticket: The ticket that opens it; `nil` for a login.
    /// - Returns: The link, or a problem: 502 or 503.
    func link(
        of account: String,
        user: UserID,
        with ticket: PayeeTicket?
    ) async -> Result<ConnectLinkReply, Problem>

    /// Makes a fresh link to the pages on which a payee who is set up changes the bank account.
    ///
    /// - Returns: The link, or a problem: 502 or 503.
    func dashboardLink(of account: String) async -> Result<ConnectLinkReply, Problem>
}
