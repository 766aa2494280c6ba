"""The state of the stand-in for Stripe: its objects and their changes.

Amounts are whole cents of one currency. `stripe_stand_in.py` has the HTTP part.
"""
import copy
import hashlib
import time

PLATFORM = "acct_platform"
DAY = 86_400


class Refusal(Exception):
    """An error reply with its status. If `is_kept`, it is stored under the call's idempotency
    key."""

    def __init__(self, code, message, status=400, kind="invalid_request_error", is_kept=True, param=None):
        super().__init__(message)
        self.status = status
        self.is_kept = is_kept
        self.body = {"error": {"type": kind, "message": message}}
        if code:
            self.body["error"]["code"] = code
        if param:
            self.body["error"]["param"] = param


def missing(what, name):
    return Refusal("resource_missing", f"No such {what}: '{name}'", 404, is_kept=False)


class World:
    def __init__(self, address="http://127.0.0.1", version="", is_live=False):
        self.address = address
        self.version = version
        self.is_live = is_live
        self.offset = 0
        self.count = 0
        self.fee_is_late = False
        self.funds_wait = 0
        self.intents, self.sessions, self.charges, self.refunds, self.disputes = {}, {}, {}, {}, {}
        self.accounts, self.links, self.transfers, self.payouts = {}, {}, {}, {}
        self.lines = {}
        """Balance transactions by id. `_account` is the id of the account whose balance changed."""
        self.events = []

    # Values

    @property
    def now(self):
        return int(time.time()) + self.offset

    def name(self, prefix):
        self.count += 1
        tail = hashlib.sha256(f"{self.address}{self.count}".encode()).hexdigest()[:16]
        return f"{prefix}_{self.count:06d}{tail}"

    def event(self, kind, subject, account=None):
        made = {
            "id": self.name("evt"), "object": "event", "api_version": self.version, "created": self.now,
            "data": {"object": copy.deepcopy(visible(subject))}, "livemode": self.is_live, "pending_webhooks": 1,
            "request": {"id": None, "idempotency_key": None}, "type": kind,
        }
        if account:
            made["account"] = account
        self.events.append(made)

    def line(self, kind, amount, source, account=PLATFORM, fee=0, wait=0, category=None):
        """Adds a balance transaction, which changes the account's balance. Returns its id."""
        made = {
            "id": self.name("txn"), "object": "balance_transaction", "amount": amount, "fee": fee,
            "net": amount - fee, "currency": "usd", "type": kind, "source": source,
            "created": self.now, "available_on": self.now + wait, "description": None,
            "exchange_rate": None, "reporting_category": category or kind, "balance_type": "payments",
            "status": "pending" if wait else "available",
            "fee_details": [
                {"amount": fee, "application": None, "currency": "usd", "description": None, "type": "stripe_fee"}
            ] if fee else [],
            "_account": account,
        }
        self.lines[made["id"]] = made
        return made["id"]

    def balance(self, account):
        ours = [line for line in self.lines.values() if line["_account"] == account]
        for line in ours:
            if line["available_on"] <= self.now:
                line["status"] = "available"
        available = sum(line["net"] for line in ours if line["status"] == "available")
        pending = sum(line["net"] for line in ours if line["status"] == "pending")
        made = {
            "object": "balance", "livemode": self.is_live,
            "available": [{"amount": available, "currency": "usd", "source_types": {"card": available}}],
            "pending": [{"amount": pending, "currency": "usd", "source_types": {"card": pending}}],
        }
        if account == PLATFORM:
            made["connect_reserved"] = [{"amount": 0, "currency": "usd"}]
        return made

    def available(self, account):
        return self.balance(account)["available"][0]["amount"]

    # Payments

    def create_intent(self, form, session=None):
        amount = int(form["amount"])
        if amount < 50:
            raise Refusal("amount_too_small", "Amount must be at least $0.50 usd", is_kept=False)
        name = self.name("pi")
        made = {
            "id": name, "object": "payment_intent", "amount": amount, "amount_received": 0,
            "automatic_payment_methods": {"allow_redirects": "never", "enabled": True},
            "canceled_at": None, "cancellation_reason": None, "capture_method": "automatic_async",
            "client_secret": f"{name}_secret_{self.name('x')}", "confirmation_method": "automatic",
            "created": self.now, "currency": form["currency"], "description": None,
            "last_payment_error": None, "latest_charge": None, "livemode": self.is_live,
            "metadata": form.get("metadata", {}), "next_action": None, "payment_method": None,
            "payment_method_types": ["card"], "processing": None, "status": "requires_payment_method",
            "_session": session,
        }
        self.intents[name] = made
        return made

    def cancel_intent(self, intent):
        if intent["_session"]:
            raise Refusal("payment_intent_unexpected_state", "This PaymentIntent belongs to a Checkout Session.")
        if intent["status"] in ("succeeded", "canceled", "processing"):
            state = intent["status"]
            raise Refusal("payment_intent_unexpected_state", f"You cannot cancel it: its status is {state}.")
        intent.update(status="canceled", canceled_at=self.now)
        self.event("payment_intent.canceled", intent)
        return intent

    def create_session(self, form):
        item = form["line_items"][0]["price_data"]
        amount = int(item["unit_amount"]) * int(form["line_items"][0]["quantity"])
        expires = int(form.get("expires_at", self.now + DAY))
        if not 1_790 <= expires - self.now <= DAY + 10:
            raise Refusal("parameter_invalid", "expires_at is 30 minutes to 24 hours from now.", is_kept=False)
        name = self.name("cs_test")
        made = {
            "id": name, "object": "checkout.session", "adaptive_pricing": {"enabled": False},
            "amount_subtotal": amount, "amount_total": amount, "automatic_tax": {"enabled": False},
            "cancel_url": form.get("cancel_url"), "client_reference_id": form.get("client_reference_id"),
            "created": self.now, "currency": item["currency"], "custom_fields": [],
            "custom_text": {}, "expires_at": expires, "livemode": self.is_live,
            "metadata": form.get("metadata", {}), "mode": "payment", "payment_intent": None,
            "payment_method_types": form["payment_method_types"], "payment_status": "unpaid",
            "shipping_options": [], "status": "open", "success_url": form.get("success_url"),
            "ui_mode": "hosted_page", "url": f"{self.address}/c/pay/{name}",
            "_intent": form.get("payment_intent_data", {}).get("metadata", {}),
        }
        self.sessions[name] = made
        return made

    def expire_session(self, session):
        if session["status"] != "open":
            raise Refusal(None, f"Only open sessions can be expired: this one is {session['status']}.")
        session.update(status="expired", url=None)
        if session["payment_intent"]:
            self.intents[session["payment_intent"]].update(status="canceled", canceled_at=self.now)
        self.event("checkout.session.expired", session)
        return session

    def tick(self):
        """Expires the checkout sessions whose time is over."""
        for session in self.sessions.values():
            if session["status"] == "open" and session["expires_at"] <= self.now:
                self.expire_session(session)

    def begun(self, name):
        """Returns the payment intent with an id, or that of the checkout session with this id. A
        session gets its intent at the first attempt to pay."""
        if name in self.intents:
            return self.intents[name]
        session = self.sessions.get(name)
        if not session:
            raise missing("payment", name)
        if session["status"] != "open":
            raise Refusal(None, "The checkout is closed.")
        if not session["payment_intent"]:
            form = {"amount": session["amount_total"], "currency": session["currency"]}
            intent = self.create_intent(form | {"metadata": session["_intent"]}, session["id"])
            session["payment_intent"] = intent["id"]
        return self.intents[session["payment_intent"]]

    def pay(self, name, amount=None, currency=None):
        intent = self.begun(name)
        if intent["status"] in ("succeeded", "canceled"):
            raise Refusal(None, f"It is {intent['status']}.")
        paid = intent["amount"] if amount is None else amount
        charge = self.new_charge(intent, paid)
        intent.update(
            status="succeeded", amount_received=paid, latest_charge=charge["id"], last_payment_error=None,
            currency=currency or intent["currency"], next_action=None,
        )
        if not self.fee_is_late:
            self.settle(charge["id"], is_event=False)
        self.event("payment_intent.succeeded", intent)
        if intent["_session"]:
            session = self.sessions[intent["_session"]]
            session.update(status="complete", payment_status="paid", url=None)
            self.event("checkout.session.completed", session)
        return {"payment_intent": intent["id"], "charge": charge["id"]}

    def new_charge(self, intent, amount):
        charge = {
            "id": self.name("ch"), "object": "charge", "amount": amount, "amount_captured": amount,
            "amount_refunded": 0, "balance_transaction": None,
            "billing_details": {"address": None, "email": None, "name": None, "phone": None},
            "captured": True, "created": self.now, "currency": intent["currency"], "disputed": False,
            "livemode": self.is_live, "metadata": intent["metadata"], "paid": True,
            "payment_intent": intent["id"], "refunded": False, "status": "succeeded",
        }
        self.charges[charge["id"]] = charge
        return charge

    def settle(self, charge, is_event=True):
        """Books a charge on the platform's balance, with the fee of 2.9 % and 30 cents."""
        charge = self.charges[charge]
        amount = charge["amount"]
        wait = self.funds_wait
        charge["balance_transaction"] = self.line(
            "charge", amount, charge["id"], fee=(amount * 29 + 999) // 1_000 + 30, wait=wait
        )
        if is_event:
            self.event("charge.updated", charge)
        return charge

    def decline(self, name, code="card_declined", message="Your card was declined."):
        intent = self.begun(name)
        intent.update(
            status="requires_payment_method",
            last_payment_error={"type": "card_error", "code": code, "decline_code": "generic_decline",
                                "message": message},
        )
        self.event("payment_intent.payment_failed", intent)
        return intent

    def stand(self, name, status):
        intent = self.begun(name)
        intent.update(status=status)
        return intent

    def refund(self, name, amount=None, metadata=None, status="succeeded"):
        charge = self.charges[self.intents[name]["latest_charge"]] if name in self.intents else self.charges[name]
        left = charge["amount"] - charge["amount_refunded"]
        amount = left if amount is None else int(amount)
        if not 0 < amount <= left:
            code = "charge_already_refunded" if not left else "amount_too_large"
            raise Refusal(code, f"Refund amount ({amount}) is greater than {left}.")
        made = {
            "id": self.name("re"), "object": "refund", "amount": amount, "charge": charge["id"],
            "created": self.now, "currency": charge["currency"], "metadata": metadata or {},
            "payment_intent": charge["payment_intent"], "reason": None, "receipt_number": None,
            "source_transfer_reversal": None, "status": status, "transfer_reversal": None,
        }
        made["balance_transaction"] = self.line("refund", -amount, made["id"])
        self.refunds[made["id"]] = made
        charge["amount_refunded"] += amount
        charge["refunded"] = charge["amount_refunded"] == charge["amount"]
        self.event("refund.created", made)
        return made

    def fail_refund(self, name):
        made = self.refunds[name]
        made.update(
            status="failed", failure_reason="lost_or_stolen_card",
            failure_balance_transaction=self.line("refund_failure", made["amount"], name),
        )
        charge = self.charges[made["charge"]]
        charge.update(amount_refunded=charge["amount_refunded"] - made["amount"], refunded=False)
        self.event("refund.failed", made)
        return made

    # Disputes

    def dispute(self, name, amount=None, is_inquiry=False):
        charge = self.charges[self.intents[name]["latest_charge"]]
        amount = charge["amount"] if amount is None else amount
        made = {
            "id": self.name("du"), "object": "dispute", "amount": amount, "balance_transactions": [],
            "charge": charge["id"], "created": self.now, "currency": charge["currency"],
            "enhanced_eligibility_types": [], "evidence": {"enhanced_evidence": {}},
            "evidence_details": {"due_by": None, "enhanced_eligibility": {}, "has_evidence": False,
                                 "past_due": False, "submission_count": 0},
            "is_charge_refundable": False, "livemode": self.is_live, "metadata": {},
            "payment_intent": name, "reason": "fraudulent",
            "status": "warning_needs_response" if is_inquiry else "needs_response",
        }
        self.disputes[made["id"]] = made
        charge["disputed"] = True
        self.event("charge.dispute.created", self.whole(made))
        if not is_inquiry:
            made["balance_transactions"].append(self.line("adjustment", -amount, made["id"], fee=1_500))
            self.event("charge.dispute.funds_withdrawn", self.whole(made))
        return made

    def close(self, name, status):
        made = self.disputes[name]
        made["status"] = status
        if status == "won":
            made["balance_transactions"].append(self.line("adjustment", made["amount"], name))
            self.event("charge.dispute.funds_reinstated", self.whole(made))
        self.event("charge.dispute.closed", self.whole(made))
        return made

    def whole(self, dispute):
        """Returns a dispute with its balance transactions instead of their ids."""
        lines = [visible(self.lines[line]) for line in dispute["balance_transactions"]]
        return dispute | {"balance_transactions": lines}

    # The platform's own balance

    def adjust(self, amount, kind="adjustment"):
        """Changes the platform's balance, as an adjustment of Stripe does."""
        return self.lines[self.line(kind, amount, None)]

    def fund(self, amount):
        """Adds the operator's own money to the platform's balance."""
        return self.lines[self.line("topup", amount, self.name("tu"))]


def visible(made):
    return {name: value for name, value in made.items() if not name.startswith("_")}
