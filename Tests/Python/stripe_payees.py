"""The payees of the stand-in for Stripe: their accounts, transfers to them, and their payouts."""
from stripe_world import DAY, PLATFORM, Refusal, World, missing, visible


class Payees(World):
    def create_account(self, form):
        dashboard = form.get("controller", {}).get("stripe_dashboard", {}).get("type")
        wanted = form.get("capabilities", {})
        name = self.name("acct").replace("acct_", "acct_1")
        made = {
            "id": name, "object": "account", "capabilities": {each: "inactive" for each in wanted},
            "charges_enabled": False, "country": form.get("country", "US"), "created": self.now,
            "default_currency": "usd", "details_submitted": False,
            "controller": {
                "type": "application", "is_controller": True, "fees": {"payer": "application"},
                "losses": {"payments": "application"}, "requirement_collection": "stripe",
                "stripe_dashboard": {"type": dashboard or "none"},
            },
            "external_accounts": {"object": "list", "data": [], "has_more": False,
                                  "url": f"/v1/accounts/{name}/external_accounts"},
            "metadata": form.get("metadata", {}), "payouts_enabled": False,
            "requirements": self.wanting(["external_account", "tos_acceptance.date"]),
            "type": "express" if dashboard == "express" else "none",
        }
        self.accounts[name] = made
        return made

    @staticmethod
    def wanting(due=(), past=(), reason=None, deadline=None):
        return {
            "alternatives": [], "current_deadline": deadline, "currently_due": list(due),
            "disabled_reason": reason, "errors": [], "eventually_due": list(due), "past_due": list(past),
            "pending_verification": [],
        }

    def create_link(self, form):
        if form["account"] not in self.accounts:
            raise Refusal("account_invalid", f"No such account: '{form['account']}'", is_kept=False)
        path = f"/setup/e/{form['account']}/{self.name('x')}"
        self.links[path] = form | {"is_used": False}
        return {"object": "account_link", "created": self.now, "expires_at": self.now + 300,
                "url": self.address + path}

    def create_login_link(self, name):
        account = self.accounts.get(name)
        if not account:
            raise missing("account", name)
        if account["controller"]["stripe_dashboard"]["type"] != "express" or not account["details_submitted"]:
            raise Refusal(None, "This account has no dashboard to log in to.", is_kept=False)
        return {"object": "login_link", "created": self.now,
                "url": f"{self.address}/express/{name}/{self.name('x')}"}

    def changed(self, account):
        self.event("account.updated", account, account["id"])
        return account

    def onboard(self, name):
        account = self.accounts[name]
        account.update(charges_enabled=False, details_submitted=True, payouts_enabled=True,
                       requirements=self.wanting())
        account["capabilities"]["transfers"] = "active"
        bank = self.name("ba")
        account["external_accounts"]["data"] = [
            {"id": bank, "object": "bank_account", "account": name, "account_holder_name": None,
             "account_holder_type": None, "account_type": None, "available_payout_methods": ["standard"],
             "bank_name": "STRIPE TEST BANK", "country": "US", "currency": "usd",
             "default_for_currency": True, "last4": "6789", "metadata": {}, "routing_number": "110000000",
             "status": "new"}
        ]
        return self.changed(account)

    def restrict(self, name):
        account = self.accounts[name]
        account.update(payouts_enabled=False, requirements=self.wanting(
            ["individual.verification.document"], ["individual.verification.document"],
            "requirements.past_due", self.now + DAY))
        account["capabilities"]["transfers"] = "inactive"
        return self.changed(account)

    def close_account(self, name):
        """Closes an account, which is not found afterwards."""
        return self.accounts.pop(name)

    def create_transfer(self, form):
        amount, account = int(form["amount"]), self.accounts.get(form["destination"])
        if not account:
            raise Refusal("resource_missing", f"No such destination: '{form['destination']}'", is_kept=False)
        if account["capabilities"].get("transfers") != "active":
            raise Refusal("insufficient_capabilities_for_transfer", "The destination needs transfers enabled.")
        if self.available(PLATFORM) < amount:
            raise Refusal("balance_insufficient", "You have insufficient available funds in your account.")
        name = self.name("tr")
        made = {
            "id": name, "object": "transfer", "amount": amount, "amount_reversed": 0,
            "balance_transaction": self.line("transfer", -amount, name), "created": self.now,
            "currency": form["currency"], "description": None, "destination": account["id"],
            "livemode": self.is_live, "metadata": form.get("metadata", {}), "reversed": False,
            "reversals": {"object": "list", "data": [], "has_more": False, "url": f"/v1/transfers/{name}/reversals"},
            "source_transaction": None, "source_type": "card", "transfer_group": form.get("transfer_group"),
        }
        self.line("payment", amount, name, account["id"], wait=self.funds_wait)
        self.transfers[name] = made
        self.event("transfer.created", made)
        return made

    def reverse(self, transfer, form):
        left = transfer["amount"] - transfer["amount_reversed"]
        amount = int(form.get("amount", left))
        if not 0 < amount <= left:
            raise Refusal("transfers_reversal_too_large", f"At most {left} can be taken back.")
        account = transfer["destination"]
        if self.available(account) < amount:
            raise Refusal("insufficient_funds", "The account has not enough funds for this reversal.")
        name = self.name("trr")
        made = {
            "id": name, "object": "transfer_reversal", "amount": amount,
            "balance_transaction": self.line("transfer_refund", amount, name), "created": self.now,
            "currency": transfer["currency"], "destination_payment_refund": None,
            "metadata": form.get("metadata", {}), "source_refund": None, "transfer": transfer["id"],
        }
        self.line("payment_refund", -amount, name, account)
        transfer["reversals"]["data"].insert(0, made)
        transfer["amount_reversed"] += amount
        transfer["reversed"] = transfer["amount_reversed"] == transfer["amount"]
        self.event("transfer.reversed", transfer)
        return made

    def create_payout(self, form, account):
        amount = int(form["amount"])
        owner = self.accounts.get(account)
        if not owner:
            raise missing("account", account)
        if not owner["payouts_enabled"]:
            raise Refusal("payouts_not_allowed", "Payouts are not enabled for this account.")
        banks = [bank["id"] for bank in owner["external_accounts"]["data"]]
        if form.get("destination", banks[0]) not in banks:
            raise Refusal("resource_missing", "No such external account.", is_kept=False)
        if self.available(account) < amount:
            raise Refusal("balance_insufficient", "You have insufficient funds in your account.")
        name = self.name("po")
        made = {
            "id": name, "object": "payout", "amount": amount, "arrival_date": self.now + 2 * DAY,
            "automatic": False, "balance_transaction": self.line("payout", -amount, name, account),
            "created": self.now, "currency": form["currency"], "description": None,
            "destination": form.get("destination", banks[0]), "failure_balance_transaction": None,
            "failure_code": None, "failure_message": None, "livemode": self.is_live,
            "metadata": form.get("metadata", {}), "method": "standard", "original_payout": None,
            "reconciliation_status": "not_applicable", "reversed_by": None, "source_type": "card",
            "statement_descriptor": None, "status": "pending", "type": "bank_account", "_account": account,
        }
        self.payouts[name] = made
        self.event("payout.created", made, account)
        return made

    def move_payout(self, name, status):
        """Changes a payout's status to in_transit, paid, failed, canceled or reversed. A paid
        payout can still fail."""
        made = self.payouts[name]
        made["status"] = "paid" if status == "reversed" else status
        if status == "reversed":
            made["reversed_by"] = self.name("po")
            self.line("payout", made["amount"], made["reversed_by"], made["_account"])
        if status in ("failed", "canceled"):
            kind = "payout_failure" if status == "failed" else "payout_cancel"
            made["failure_balance_transaction"] = self.line(kind, made["amount"], name, made["_account"])
        if status == "failed":
            made.update(failure_code="account_closed", failure_message="The bank account has been closed.")
        what = status if status in ("paid", "failed", "canceled") else "updated"
        self.event(f"payout.{what}", made, made["_account"])
        return made

    def cancel_payout(self, payout):
        if payout["status"] != "pending":
            raise Refusal(None, f"Payouts can be canceled while they are pending; it is {payout['status']}.")
        return self.move_payout(payout["id"], "canceled")

    def platform_account(self):
        """Returns the platform's own account."""
        return {
            "id": PLATFORM, "object": "account", "charges_enabled": True, "country": "US",
            "created": self.now, "default_currency": "usd", "details_submitted": True, "metadata": {},
            "payouts_enabled": True, "type": "standard",
        }

    def take_all(self, name):
        """Pays out all of a payee's balance, as if the payee had withdrawn it without us."""
        amount = self.available(name)
        self.line("payout", -amount, self.name("po"), name)
        return {"amount": amount}

    def give(self, name, amount):
        """Adds money to a payee's balance, as if it came from another platform."""
        self.line("payment", amount, self.name("py"), name)
        return {"amount": amount}

    def balance_history(self, account):
        """Returns the changes of an account's balance, oldest first."""
        return [visible(line) for line in self.lines.values() if line["_account"] == account]
