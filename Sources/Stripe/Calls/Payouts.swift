package import GotchuCore

extension StripeCall<ConnectedAccount> {
    /// Creates a payee's account: Stripe collects the required data and provides a dashboard, the
    /// platform bears fees and losses, and money leaves the account only when we request it.
    package static func createAccount(
        metadata: [String: String],
        key: CallKey
    ) -> Self {
        let form: Form = [
            "controller": [
                "fees": ["payer": "application"], "losses": ["payments": "application"],
                "requirement_collection": "stripe", "stripe_dashboard": ["type": "express"],
            ],
            "capabilities": ["transfers": ["requested": true]],
            "settings": ["payouts": ["schedule": ["interval": "manual"]]],
            "metadata": .object(Form(metadata)),
        ]
        return post(
            "accounts.create",
            "/v1/accounts",
            form,
            key: key
        )
    }

    package static func account(_ id: String) -> Self {
        get("accounts.get", "/v1/accounts/\(segment(id))")
    }

    /// Reads the account that the key belongs to.
    package static var ownAccount: Self { Self.get("account.get", "/v1/account") }
}

extension StripeCall<StripeList<ConnectedAccount>> {
    /// Lists the connected accounts that were created since a time, newest first.
    package static func accounts(from: Timestamp, after: String?) -> Self {
        get("accounts.list", "/v1/accounts", .page(from, nil, after: after))
    }
}

extension StripeCall<AccountLink> {
    /// Creates a link to the pages on which payees identify themselves. It works once.
    package static func createAccountLink(
        account: String,
        refresh: String,
        back: String,
        key: CallKey
    ) -> Self {
        let form: Form = [
            "account": .text(account), "type": "account_onboarding",
            "refresh_url": .text(refresh), "return_url": .text(back),
            "collection_options": ["fields": "eventually_due"],
        ]
        return post("account_links.create", "/v1/account_links", form, key: key)
    }
}

extension StripeCall<LoginLink> {
    /// Creates a link to the pages on which a payee changes the bank account after onboarding.
    package static func createLoginLink(account: String, key: CallKey) -> Self {
        post(
            "login_links.create",
            "/v1/accounts/\(segment(account))/login_links",
            [:],
            key: key
        )
    }
}

extension StripeCall<StripeTransfer> {
    /// Moves money from the platform's balance to a payee's account.
    ///
    /// - Parameter group: Our id, by which the transfer can be found.
    package static func createTransfer(
        _ moving: NamedAmount,
        to account: String,
        group: String,
        key: CallKey
    ) -> Self {
        let form: Form = [
            "amount": .integer(moving.amount), "currency": .text(moving.currency),
            "destination": .text(account), "transfer_group": .text(group),
            "metadata": .object(Form(moving.metadata)),
        ]
        return post("transfers.create", "/v1/transfers", form, key: key)
    }

    /// Reads a transfer with its newest reversals.
    package static func transfer(_ id: String) -> Self {
        get("transfers.get", "/v1/transfers/\(segment(id))")
    }
}

extension StripeCall<StripeList<StripeTransfer>> {
    /// Lists the transfers of a group, newest first.
    package static func transfers(group: String, after: String? = nil) -> Self {
        let form: Form = ["transfer_group": .text(group), "limit": 100]
        return get("transfers.list", "/v1/transfers", form.adding("starting_after", after))
    }
}

extension StripeCall<TransferReversal> {
    /// Reverses a transfer to a payee's account.
    package static func createReversal(
        of transfer: String,
        amount: Int64,
        metadata: [String: String],
        key: CallKey
    ) -> Self {
        let form: Form = ["amount": .integer(amount), "metadata": .object(Form(metadata))]
        let path = "/v1/transfers/\(segment(transfer))/reversals"
        return post("reversals.create", path, form, key: key)
    }
}

extension StripeCall<StripePayout> {
    /// Creates a payout from a payee's account to their bank.
    ///
    /// - Parameter destination: A bank account; `nil` for the account's default.
    package static func createPayout(
        _ moving: NamedAmount,
        from account: String,
        destination: String?,
        key: CallKey
    ) -> Self {
        let form: Form = [
            "amount": .integer(moving.amount), "currency": .text(moving.currency),
            "metadata": .object(Form(moving.metadata)),
        ]
        return post(
            "payouts.create",
            "/v1/payouts",
            form.adding("destination", destination),
            key: key,
            account: account
        )
    }

    /// Reads a payout of a payee's account.
    package static func payout(_ id: String, of account: String) -> Self {
        get("payouts.get", "/v1/payouts/\(segment(id))", account: account)
    }
}

extension StripeCall<StripeList<StripePayout>> {
    /// Lists the payouts of an account that were created since a time, newest first.
    package static func payouts(of account: String, from: Timestamp, after: String?) -> Self {
        get("payouts.list", "/v1/payouts", .page(from, nil, after: after), account: account)
    }
}

extension StripeCall<StripeBalance> {
    /// Reads the balance of an account; `nil` for the platform's.
    package static func balance(of account: String?) -> Self {
        get("balance.get", "/v1/balance", account: account)
    }
}

extension StripeCall<StripeList<BalanceTransaction>> {
    /// Lists all changes of the platform's balance since a time, with the objects that caused them,
    /// newest first.
    package static func balanceTransactions(from: Timestamp, after: String?) -> Self {
        let form = Form.page(from, nil, after: after).adding("expand", ["data.source"])
        return get("balance_transactions.list", "/v1/balance_transactions", form)
    }
}

extension StripeCall<StripeList<StripeEvent>> {
    /// Lists the events since a time, newest first. Stripe keeps them for 30 days.
    package static func events(
        from: Timestamp,
        to: Timestamp?,
        after: String?
    ) -> Self {
        get("events.list", "/v1/events", .page(from, to, after: after))
    }
}
