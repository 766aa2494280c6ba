"""A stand-in for Stripe on loopback, with payments, checkouts, refunds, disputes, payees, transfers
and payouts.

Each request, reply and event is compared with Stripe's published description, and differences are
added to `violations`. Idempotency keys behave as documented: the reply of the first execution is
stored for a day, even a 500, but not a reply about wrong parameters, a conflict or a limit. POST
/_control takes a JSON object {"do": …} (see `Control`). The pages in members `url` work in a
browser: their button pays, or finishes an onboarding.

Usage: stripe_stand_in.py [PORT]. Prints its port.
"""
import base64
import hashlib
import hmac
import html
import http.client
import http.server
import json
import os
import queue
import signal
import sys
import threading
import time
import urllib.parse

from stripe_document import Document, pairs, tree
from stripe_payees import Payees
from stripe_world import DAY, PLATFORM, Refusal, missing, visible

EXPANDABLE = {
    "latest_charge": "charges", "payment_intent": "intents", "balance_transaction": "lines", "charge": "charges",
    "failure_balance_transaction": "lines",
}
"""Members that contain an id and can be expanded, with the collection of the id's object."""

SOURCES = {"ch": "charges", "re": "refunds", "du": "disputes", "tr": "transfers"}
"""The collections of the sources of balance changes, by the prefix of the id."""


class Lost(Exception):
    """The connection must be closed without a reply."""


class Stripe:
    """The API. Takes requests, and returns replies."""

    def __init__(self, address):
        self.document = Document()
        self.world = Payees(address, self.document.version)
        self.lock = threading.RLock()
        self.kept = {}
        self.violations = []
        self.requests = []
        self.faults = []
        self.is_away = False
        self.is_revoked = False
        self.other_keys = {}
        """The accounts of other API keys, by key."""
        self.webhooks = WebhookSender(self)
        self.published_count = 0

    # Faults

    def fault(self, moment, call):
        """Returns the fault that is planned for a moment of a call, or None, and counts it down."""
        for fault in self.faults:
            if fault["moment"] == moment and call.startswith(fault.get("call", "")) and fault.get("times", 1) > 0:
                fault["times"] = fault.get("times", 1) - 1
                return fault
        return None

    # Requests

    def answer(self, method, path, query, body, headers):
        """Returns the status, the headers and the value of a reply."""
        key = headers.get("Authorization", "").removeprefix("Bearer ")
        account = self.other_keys.get(key, PLATFORM)
        with self.lock:
            found = self.document.operation(method, path)
            call = f"{method} {found[0]}" if found else f"{method} {path}"
            self.requests.append({
                "call": call, "path": path, "key": headers.get("Idempotency-Key"),
                "account": headers.get("Stripe-Account"), "version": headers.get("Stripe-Version"), "body": body,
            })
            if self.is_revoked or not key.startswith(("sk_", "rk_")):
                raise Refusal(None, f"Invalid API Key provided: {key[:8]}****", 401, is_kept=False)
            before = self.fault("before", call)
            if before:
                self.fail(before)
            if not found:
                raise Refusal(None, f"Unrecognized request URL ({method}: {path}).", 404, is_kept=False)
            if headers.get("Stripe-Version") != self.document.version:
                self.violations.append(f"{call}: version {headers.get('Stripe-Version')}")
            wrong = self.document.of_request(found[1], pairs(query), pairs(body))
            if wrong:
                self.violations.append(f"{call}: {wrong}")
                raise Refusal("parameter_unknown", "; ".join(wrong), is_kept=False)
            status, value, is_replay = self.once(call, path, pairs(query), pairs(body), headers, account)
            if status == 200:
                wrong = self.document.of_reply(found[1], value)
                self.violations += [f"{call}: {sentence}" for sentence in wrong]
            after = self.fault("after", call)
            self.publish(at_once=True)
        if after:
            if after["kind"] == "kill after":
                os.kill(after["pid"], signal.SIGKILL)
                raise Lost
            if after["kind"] == "slow":
                time.sleep(after.get("seconds", 1))
            elif after["kind"] == "torn":
                return status, {"Torn": "1"}, value
            else:
                raise Lost
        return status, {"Idempotent-Replayed": "true"} if is_replay else {}, value

    def fail(self, fault):
        kind = fault["kind"]
        if kind == "kill before":
            os.kill(fault["pid"], signal.SIGKILL)
            raise Lost
        if kind == "refused":
            raise Lost
        if kind == "conflict":
            raise Refusal("idempotency_key_in_use", "Another request with this key is in progress.", 409,
                          "idempotency_error", is_kept=False)
        if kind == "limit":
            raise Refusal("rate_limit", "Too many requests hit the API too quickly.", 429, is_kept=False)
        if kind == "unauthorized":
            raise Refusal(None, "Invalid API Key provided: sk_test_****", 401, is_kept=False)
        if kind == "error":
            raise Refusal(None, "An unknown error occurred.", 500, "api_error", is_kept=False)
        if kind == "no":
            raise Refusal(fault.get("code"), "No.", fault.get("status", 400), is_kept=False)
        if kind == "html":
            raise Page(fault.get("status", 502))
        raise ValueError(kind)

    def once(self, call, path, query, body, headers, account):
        """Executes a request, or replays the reply of the first execution with its key. Returns the
        status, the value and True for a replay."""
        key = headers.get("Idempotency-Key")
        if not key or not call.startswith("POST"):
            return (*self.execute(call, path, query, body, headers, account), False)
        place = (headers.get("Authorization"), headers.get("Stripe-Account"), key)
        known = self.kept.get(place)
        if known and self.world.now - known["at"] < DAY:
            if known["what"] != (path, body):
                raise Refusal(None, "Keys for idempotent requests can only be used with the same parameters.",
                              400, "idempotency_error", is_kept=False)
            return known["status"], known["value"], True
        try:
            failing = self.fault("kept", call)
            if failing and not failing.get("effect"):
                raise Refusal(None, "An unknown error occurred.", 500, "api_error")
            status, value = self.execute(call, path, query, body, headers, account)
            if failing:
                raise Refusal(None, "An unknown error occurred.", 500, "api_error")
        except Refusal as refusal:
            if not refusal.is_kept:
                raise
            status, value = refusal.status, refusal.body
        # The value is copied, because the object may change later.
        value = json.loads(json.dumps(value))
        self.kept[place] = {"at": self.world.now, "what": (path, body), "status": status, "value": value}
        return status, value, False

    def execute(self, call, path, query, body, headers, account):
        self.world.tick()
        parameters, form = tree(query), tree(body)
        on_behalf = headers.get("Stripe-Account")
        if on_behalf and on_behalf not in self.world.accounts:
            raise Refusal("account_invalid", f"No access to account '{on_behalf}'.", 403, is_kept=False)
        made = self.do(call, path.split("/")[2:], parameters, form, on_behalf, account)
        wanted = parameters.get("expand") or form.get("expand") or []
        return 200, self.shown(made, [] if made["object"] == "list" else wanted)

    def do(self, call, parts, parameters, form, account, own):
        world = self.world
        name = parts[1] if len(parts) > 1 else None
        match call.replace("{intent}", "{}").replace("{session}", "{}"):
            case "POST /v1/payment_intents": return world.create_intent(form)
            case "GET /v1/payment_intents": return self.listed(world.intents, parts, parameters)
            case "GET /v1/payment_intents/{}": return self.found(world.intents, name)
            case "POST /v1/payment_intents/{}/cancel": return world.cancel_intent(self.found(world.intents, name))
            case "POST /v1/checkout/sessions": return world.create_session(form)
            case "GET /v1/checkout/sessions": return self.listed(world.sessions, parts, parameters)
            case "GET /v1/checkout/sessions/{}": return self.found(world.sessions, parts[2])
            case "POST /v1/checkout/sessions/{}/expire": return world.expire_session(self.found(world.sessions, parts[2]))
            case "POST /v1/refunds":
                return world.refund(form.get("payment_intent") or form["charge"], form.get("amount"), form.get("metadata"))
            case "GET /v1/refunds": return self.listed(world.refunds, parts, parameters)
            case "GET /v1/refunds/{refund}": return self.found(world.refunds, name)
            case "GET /v1/disputes": return self.listed(world.disputes, parts, parameters)
            case "GET /v1/disputes/{dispute}": return self.found(world.disputes, name)
            case "GET /v1/charges/{charge}": return self.found(world.charges, name)
            case "GET /v1/account": return world.platform_account() | {"id": own}
            case "POST /v1/accounts": return world.create_account(form)
            case "GET /v1/accounts": return self.listed(world.accounts, parts, parameters)
            case "GET /v1/accounts/{account}": return self.found(world.accounts, name)
            case "POST /v1/accounts/{account}/login_links": return world.create_login_link(name)
            case "POST /v1/account_links": return world.create_link(form)
            case "POST /v1/transfers": return world.create_transfer(form)
            case "GET /v1/transfers": return self.listed(world.transfers, parts, parameters)
            case "GET /v1/transfers/{transfer}": return self.found(world.transfers, name)
            case "POST /v1/transfers/{id}/reversals": return world.reverse(self.found(world.transfers, name), form)
            case "POST /v1/payouts": return world.create_payout(form, account)
            case "GET /v1/payouts":
                mine = {name: each for name, each in world.payouts.items() if each["_account"] == account}
                return self.listed(mine, parts, parameters)
            case "GET /v1/payouts/{payout}": return self.found(world.payouts, name, account)
            case "POST /v1/payouts/{payout}/cancel": return world.cancel_payout(self.found(world.payouts, name, account))
            case "GET /v1/balance": return world.balance(account or PLATFORM)
            case "GET /v1/balance_transactions":
                mine = {line["id"]: line for line in world.balance_history(account or PLATFORM)}
                return self.listed(mine, parts, parameters)
            case "GET /v1/events": return self.listed({each["id"]: each for each in world.events}, parts, parameters)
        raise Refusal(None, f"The stand-in does not know {call}.", 404, is_kept=False)

    @staticmethod
    def found(things, name, account=None):
        made = things.get(name)
        if not made or account and made["_account"] != account:
            raise missing("object", name)
        return made

    def listed(self, things, parts, parameters):
        """Returns a page of a list, newest first."""
        bounds = parameters.get("created", {})
        filters = {name: value for name, value in parameters.items()
                   if name in ("payment_intent", "transfer_group", "type", "destination", "source")}
        rows = [
            each for each in reversed(list(things.values()))
            if int(bounds.get("gte", 0)) <= each["created"] <= int(bounds.get("lte", 1 << 60))
            and all(each.get(name) == value for name, value in filters.items())
        ]
        after = parameters.get("starting_after")
        if after:
            names = [each["id"] for each in rows]
            rows = rows[names.index(after) + 1:] if after in names else []
        limit = int(parameters.get("limit", 10))
        wanted = [path.removeprefix("data.") for path in parameters.get("expand", [])]
        return {"object": "list", "data": [self.shown(each, wanted) for each in rows[:limit]],
                "has_more": len(rows) > limit, "url": "/v1/" + "/".join(parts)}

    def shown(self, made, wanted):
        """Returns an object with its expansions, and without the stand-in's own members."""
        made = visible(made)
        if made["object"] == "dispute":
            made = self.world.whole(made)
        for path in wanted:
            first, _, rest = path.partition(".")
            name = made.get(first)
            if name is None:
                continue
            if isinstance(name, dict):
                made[first] = self.shown(name, [rest] if rest else [])
                continue
            things = SOURCES.get(name.split("_")[0]) if first == "source" else EXPANDABLE[first]
            if things:
                made[first] = self.shown(getattr(self.world, things)[name], [rest] if rest else [])
        return made

    # Events

    def publish(self, at_once=False):
        """Checks new events, and passes them to the sender of webhooks."""
        with self.lock:
            new, self.published_count = self.world.events[self.published_count:], len(self.world.events)
            for event in new:
                wrong = self.document.of_object(event) + self.document.of_object(event["data"]["object"])
                self.violations += [f"{event['type']}: {sentence}" for sentence in wrong]
        for event in new:
            self.webhooks.enqueue(event)
        if at_once and self.webhooks.mode == "early":
            self.webhooks.wait()


class Page(Exception):
    """The reply must be an HTML page, as from an intermediary."""

    def __init__(self, status):
        super().__init__(status)
        self.status = status


def signature(secrets, body, at):
    codes = [hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest() for secret in secrets]
    return ",".join([f"t={at}", *(f"v1={code}" for code in codes), "v0=" + "0" * 64])


class WebhookSender:
    """Sends the webhooks: each event to each endpoint, and again after a failure.

    `mode` is usual, or a fault: late, reversed, lost, twice, early, foreign or badly signed.
    """

    def __init__(self, stripe):
        self.stripe = stripe
        self.endpoints = []
        self.mode = "usual"
        self.delayed = []
        self.sent = []
        self.waiting = queue.Queue()
        threading.Thread(target=self.work, daemon=True).start()

    def enqueue(self, event):
        if self.mode in ("late", "reversed"):
            self.delayed.append(event)
        elif self.mode != "lost":
            for _ in range(2 if self.mode == "twice" else 1):
                self.waiting.put((event, 1))

    def flush(self):
        delayed, self.delayed = self.delayed, []
        for event in reversed(delayed) if self.mode == "reversed" else delayed:
            self.waiting.put((event, 1))

    def wait(self):
        self.waiting.join()

    def work(self):
        while True:
            event, attempt = self.waiting.get()
            try:
                for endpoint in self.endpoints:
                    if endpoint.get("connect", False) == ("account" in event):
                        self.send(event, endpoint, attempt)
            finally:
                self.waiting.task_done()

    def send(self, event, endpoint, attempt):
        if self.mode == "foreign":
            event = event | {"livemode": not event["livemode"]}
        body = json.dumps(event, indent=2).encode()
        secrets = endpoint["secrets"]
        if self.mode == "badly signed":
            secrets = ["whsec_another"]
        header = signature(secrets, body, self.stripe.world.now + endpoint.get("skew", 0))
        url = urllib.parse.urlsplit(endpoint["url"])
        try:
            connection = http.client.HTTPConnection(url.hostname, url.port, timeout=20)
            connection.request("POST", url.path, body, {
                "Content-Type": "application/json; charset=utf-8", "Stripe-Signature": header,
                "User-Agent": "Stripe/1.0 (+https://stripe.com/docs/webhooks)",
            })
            status = connection.getresponse().status
            connection.close()
        except OSError:
            status = 0
        self.sent.append({"id": event["id"], "type": event["type"], "status": status, "attempt": attempt})
        if not 200 <= status < 300 and attempt < 8:
            timer = threading.Timer(0.5 * attempt, lambda: self.waiting.put((event, attempt + 1)))
            timer.daemon = True
            timer.start()


class Control:
    """A test's commands to the stand-in: {"do": NAME, …}. A name is in WORLD or a method
    `do_NAME`."""

    WORLD = {
        "pay", "decline", "settle", "refund", "fail_refund", "dispute", "close", "onboard", "restrict",
        "adjust", "close_account", "fund", "move_payout", "take_all", "give", "stand",
    }

    def __init__(self, stripe):
        self.stripe = stripe

    def act(self, order):
        name = order.pop("do")
        with self.stripe.lock:
            if name in self.WORLD:
                made = getattr(self.stripe.world, name)(**order)
                answer = visible(made)
            else:
                answer = getattr(self, "do_" + name)(**order)
        self.stripe.publish()
        return answer

    def do_advance(self, seconds):
        self.stripe.world.offset += seconds
        self.stripe.world.tick()
        return {"now": self.stripe.world.now}

    def do_set(self, **values):
        """Sets attributes of the world: fee_is_late, funds_wait or is_live."""
        for name, value in values.items():
            setattr(self.stripe.world, name, value)
        return values

    def do_fault(self, kind, call="", times=1, **more):
        moments = {"kill after": "after", "lost": "after", "torn": "after", "slow": "after", "kept": "kept"}
        self.stripe.faults.append({"kind": kind, "call": call, "times": times,
                                   "moment": moments.get(kind, "before"), **more})
        return {}

    def do_clear(self):
        self.stripe.faults.clear()
        self.stripe.is_away = self.stripe.is_revoked = False
        self.stripe.webhooks.mode = "usual"
        return {}

    def do_away(self, is_away=True):
        self.stripe.is_away = is_away
        return {}

    def do_revoke(self, is_revoked=True):
        self.stripe.is_revoked = is_revoked
        return {}

    def do_other_key(self, key, account):
        self.stripe.other_keys[key] = account
        return {}

    def do_endpoints(self, endpoints):
        """Replaces all endpoints. Each is {"url", "secrets", "connect", "skew"}."""
        self.stripe.webhooks.endpoints = endpoints
        return {}

    def do_webhooks(self, mode):
        self.stripe.webhooks.mode = mode
        return {}

    def do_lie(self, what):
        """Makes Stripe's own balance differ from our calls."""
        world = self.stripe.world
        charge = next(line for line in world.lines.values() if line["type"] == "charge")
        if what == "adjust":
            world.adjust(-1_500)
        elif what == "forget charge":
            del world.lines[charge["id"]]
        elif what == "charge more":
            charge.update(amount=charge["amount"] + 100, net=charge["net"] + 100)
        elif what == "forget fee":
            charge.update(fee=charge["fee"] - 1, net=charge["net"] + 1)
        elif what == "transfer by hand":
            form = {"amount": "100", "currency": "usd", "destination": next(iter(world.accounts))}
            world.create_transfer(form)
        elif what == "taken away":
            world.line("payout", -100, world.name("po"), next(iter(world.accounts)))
        else:
            raise ValueError(what)
        return {}

    def do_stray(self, user):
        """Makes a paid deposit with our metadata that our ledger does not know."""
        names = {"gotchu_deposit": "01990000-0000-7000-8000-000000000001", "gotchu_user": user}
        intent = self.stripe.world.create_intent({"amount": "900", "currency": "usd", "metadata": names})
        return self.stripe.world.pay(intent["id"])

    def do_flush(self):
        self.stripe.webhooks.flush()
        return {}

    def do_send(self, event):
        """Sends any event as a webhook, even an event that did not happen in the stand-in."""
        self.stripe.webhooks.waiting.put((event, 1))
        return {}

    def do_state(self):
        world = self.stripe.world
        names = ("intents", "sessions", "charges", "refunds", "disputes", "accounts", "transfers", "payouts", "lines")
        things = {name: [visible(each) for each in getattr(world, name).values()] for name in names}
        return things | {
            "violations": self.stripe.violations, "requests": self.stripe.requests, "deliveries": self.stripe.webhooks.sent,
            "events": world.events, "balance": world.balance(PLATFORM), "now": world.now,
        }


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        self.serve("")

    def do_POST(self):
        self.serve(self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode())

    def serve(self, body):
        stripe = self.server.stripe
        url = urllib.parse.urlsplit(self.path)
        try:
            if url.path == "/_control":
                return self.control(body)
            if stripe.is_away:
                raise Lost
            if not url.path.startswith("/v1/"):
                return self.page(url.path, body)
            status, headers, value = stripe.answer(self.command, url.path, url.query, body, self.headers)
            return self.reply(status, value, headers)
        except Refusal as refusal:
            more = {"Retry-After": "1"} if refusal.status == 429 else {}
            return self.reply(refusal.status, refusal.body, more)
        except Page as page:
            return self.send(page.status, b"<html><body>Bad gateway</body></html>", {"Content-Type": "text/html"})
        except Lost:
            self.close_connection = True
            self.connection.close()

    def control(self, body):
        try:
            self.reply(200, Control(self.server.stripe).act(json.loads(body)), {})
        except Refusal as refusal:
            self.reply(refusal.status, refusal.body, {})
        except Exception as error:  # A mistake of the test, which must be told.
            self.reply(400, {"error": {"type": "invalid_request_error", "message": repr(error)}}, {})

    def reply(self, status, value, headers):
        body = json.dumps(value).encode()
        request = "req_" + base64.b16encode(hashlib.sha256(body).digest())[:14].decode()
        head = {"Content-Type": "application/json", "Request-Id": request} | headers
        if head.pop("Torn", None):
            self.close_connection = True
            return self.send(status, body[:len(body) // 2], head, length=len(body))
        return self.send(status, body, head)

    def send(self, status, body, headers, length=None):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)
        if length is not None:
            self.wfile.flush()
            self.connection.close()

    # Pages

    def page(self, path, body):
        """Serves the hosted pages. A button pays or finishes the onboarding. Viewing a page changes
        nothing, except that an onboarding link works only once."""
        stripe, parts = self.server.stripe, path.strip("/").split("/")
        if parts[:2] == ["c", "pay"] and parts[-1] in stripe.world.sessions:
            session = stripe.world.sessions[parts[-1]]
            if self.command == "POST":
                Control(stripe).act({"do": "pay", "name": session["id"]})
                return self.go(session["success_url"])
            words = f"Pay ${session['amount_total'] / 100:.2f}"
            return self.button(words if session["status"] == "open" else "", session["status"])
        if parts[0] == "express" and len(parts) == 3:
            return self.button("", "Your account at the provider")
        if path in stripe.world.links:
            link = stripe.world.links[path]
            if self.command == "POST":
                Control(stripe).act({"do": "onboard", "name": link["account"]})
                return self.go(link["return_url"])
            if link["is_used"]:
                return self.go(link["refresh_url"])
            link["is_used"] = True
            return self.button("Agree and submit", "Your details")
        return self.send(404, b"", {})

    def go(self, url):
        self.send(303, b"", {"Location": url})

    def button(self, words, title):
        button = f'<form method="post"><button>{html.escape(words)}</button></form>' if words else ""
        text = f"<!doctype html><title>{html.escape(title)}</title><h1>{html.escape(title)}</h1>{button}"
        self.send(200, text.encode(), {"Content-Type": "text/html; charset=utf-8"})

    def log_message(self, *arguments):
        pass


def main():
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    server.request_queue_size = 128
    server.stripe = Stripe(f"http://127.0.0.1:{server.server_address[1]}")
    print(f"port {server.server_address[1]}", flush=True)
    server.serve_forever()


main()
