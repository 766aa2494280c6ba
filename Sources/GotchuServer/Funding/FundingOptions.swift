internal import FoundationEssentials
internal import Funding
internal import GotchuCore
internal import Ledger
internal import ServiceProcess

/// The settings of deposits and withdrawals. Amounts are in minor units.
struct FundingOptions: Sendable {
    /// The allowed values of the largest balance.
    static let balanceRange: ClosedRange<Int64> = 1...1_000_000_000_000

    var depositMinimum: Int64 = 100
    var depositMaximum: Int64 = 50_000
    /// The largest balance that a deposit may lead to.
    var balanceMaximum: Int64 = 200_000
    var payouts = PayoutTerms()
    /// The house's share of payments to payees, in basis points.
    var takeBasisPoints: Int64 = 0
    /// A Boolean that is true if only payees with an active account can request payments.
    var requiresOnboarding = false
    /// The path of a file with the ids of the users that get deposits and withdrawals; `nil` for
    /// all users.
    var usersFile: String?
}

extension ServerSettings {
    static let fundingTable: [Setting<Self>] = [
        Setting("deposit_minimum", \.funding.depositMinimum, .number(Money.allowedRequest)),
        Setting("deposit_maximum", \.funding.depositMaximum, .number(Money.allowedRequest)),
        Setting("balance_maximum", \.funding.balanceMaximum, .number(FundingOptions.balanceRange)),
        Setting("payout_minimum", \.funding.payouts.minimum, .number(1...100_000_000)),
        Setting("payout_hold_hours", \.funding.payouts.holdHours, .number(0...8_760)),
        Setting("payout_first_sales", \.funding.payouts.firstSales, .number(0...500)),
        Setting("take_basis_points", \.funding.takeBasisPoints, .number(0...5_000)),
        Setting("require_onboarding", \.funding.requiresOnboarding, .boolean),
        Setting("funding_users_file", \.funding.usersFile, .text),
    ]

    /// The settings of deposits and withdrawals.
    ///
    /// - Throws: `ServerFailure` if no deposit could have an allowed amount.
    var fundingOptions: FundingOptions {
        get throws(ServerFailure) {
            let least = funding.depositMinimum
            let maxima = [("deposit", funding.depositMaximum), ("balance", funding.balanceMaximum)]
            for (name, most) in maxima where least > most {
                throw ServerFailure(
                    .configuration,
                    "The smallest deposit, \(least) cents, is larger than the largest \(name), "
                        + "\(most) cents: nobody could deposit.",
                    fix: "Set GOTCHU_SERVER_DEPOSIT_MINIMUM or GOTCHU_SERVER_"
                        + "\(name.uppercased())_MAXIMUM."
                )
            }
            return funding
        }
    }
}

/// The users that get a feature. It may not be offered to everybody yet.
struct UserAllowlist: Sendable {
    private static let sizeLimit = 1024 * 1024

    /// `nil` for all users.
    private var ids: Set<String>?

    static let everybody = UserAllowlist()

    private init() {}

    /// Reads a file with a user's id on each line. Lines that begin with `#` are comments. Without
    /// a file, all users are included.
    ///
    /// - Throws: If the file cannot be read, is too large or names nobody. A default would include
    ///   too many or too few users.
    init(file path: String?) throws(ServerFailure) {
        guard let path else { return }
        guard let data = try? Data(contentsOf: URL(filePath: path)), data.count <= Self.sizeLimit
        else {
            throw ServerFailure(
                .configuration,
                "The list of users at \(path) cannot be read.",
                fix: "Put a user's id on each line, or leave the setting out for everybody."
            )
        }
        let text = String(decoding: data, as: UTF8.self)
        let lines = text.split(whereSeparator: \.isNewline).map { line in
            line.filter { !$0.isWhitespace }
        }
        let ids = Set(lines.filter { !$0.isEmpty && !$0.hasPrefix("#") })
        guard !ids.isEmpty else {
            throw ServerFailure(
                .configuration,
                "The list of users at \(path) names nobody.",
                fix: "Put a user's id on each line, or leave the setting out for everybody. For "
                    + "nobody, put a word such as \"nobody\" there."
            )
        }
        self.ids = ids
    }

    var isUnrestricted: Bool { ids == nil }

    func contains(_ user: UserID) -> Bool { ids?.contains(user.rawValue) ?? true }
}
