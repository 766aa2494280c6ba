internal import FoundationEssentials
internal import Funding
internal import Ledger
internal import ServiceProcess

/// The limits of money in and out. Amounts are in minor units.
struct FundingOptions: Sendable {
    var depositMinimum: Int64 = 100
    var depositMaximum: Int64 = 50_000
    /// The largest balance that a new deposit may lead to.
    var balanceMaximum: Int64 = 200_000
    var payouts = PayoutTerms()
    /// The house's part of what payees are paid, in basis points.
    var takeBasisPoints: Int64 = 0
    /// A Boolean that is true if payees without a connected account cannot ask for money.
    var requiresOnboarding = false
    /// The path of a file with the users that see all this, one a line; `nil` for everybody.
    var usersFile: String?
}

extension ServerSettings {
    static let fundingTable: [Setting<Self>] = [
        Setting("deposit_minimum", \.funding.depositMinimum, .number(1...100_000_000)),
        Setting("deposit_maximum", \.funding.depositMaximum, .number(1...100_000_000)),
        Setting("balance_maximum", \.funding.balanceMaximum, .number(1...1_000_000_000_000)),
        Setting("payout_minimum", \.funding.payouts.minimum, .number(1...100_000_000)),
        Setting("payout_hold_hours", \.funding.payouts.holdHours, .number(0...8_760)),
        Setting("payout_first_sales", \.funding.payouts.firstSales, .number(0...500)),
        Setting("take_basis_points", \.funding.takeBasisPoints, .number(0...5_000)),
        Setting("require_onboarding", \.funding.requiresOnboarding, .boolean),
        Setting("funding_users_file", \.funding.usersFile, .text),
    ]
}

/// The users that see a feature that not everybody sees yet.
struct FeatureUsers: Sendable {
    private static let sizeLimit = 1024 * 1024

    private let ids: Set<String>?

    static let everybody = FeatureUsers(ids: nil)

    private init(ids: Set<String>?) {
        self.ids = ids
    }

    /// Reads a file with a user's id on each line; without one everybody is meant.
    ///
    /// - Throws: If the file cannot be read: guessing would show or hide too much.
    init(file path: String?) throws(ServerFailure) {
        guard let path else {
            self = .everybody
            return
        }
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
        ids = Set(lines.filter { !$0.isEmpty && !$0.hasPrefix("#") })
    }

    var areAll: Bool { ids == nil }

    func contain(_ user: UserID) -> Bool { ids?.contains(user.rawValue) ?? true }
}
