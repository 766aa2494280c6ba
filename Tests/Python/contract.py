"""Tests a running development server against its own API description with schemathesis.

contract.py BASE SECONDS: calls each operation with existing sessions, keys and users, so that it
can answer 2xx, and with valid and invalid requests that are generated from the description. Prints
a JSON object: the statuses and schemathesis's findings by operation, the operations without a
success, and a Boolean that is true if the time was sufficient.
"""

import itertools
import json
import sys
import time
import uuid

import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import (
    CHECKS, content_type_conformance, negative_data_rejection, not_a_server_error,
    response_headers_conformance, response_schema_conformance, status_code_conformance,
)

BASE, SECONDS = sys.argv[1], float(sys.argv[2])
END = time.monotonic() + SECONDS
EXAMPLES = 12
CHECKS_OF_ALL = [
    not_a_server_error, status_code_conformance, content_type_conformance,
    response_headers_conformance, response_schema_conformance,
]
http = requests.Session()
numbers = itertools.count()


def call(method, path, token=None, key=None, **body):
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    if key:
        headers["Idempotency-Key"] = key
    reply = http.request(method, BASE + path, headers=headers, timeout=30,
                         json=body if method == "POST" else None)
    return reply.json()


def login(name):
    return call("POST", "/auth/dev-login", email=f"{name}@contract.example")["token"]


# There are several payees and payers, because the number of calls of each user is limited.
PAYEES = [login(f"payee{n}") for n in range(8)]
PAYERS = [login(f"payer{n}") for n in range(8)]


class World:
    """A payee, a payer and a session, which the methods bring to the state that an operation
    needs."""

    def __init__(self):
        number = next(numbers) % len(PAYEES)
        self.payee, self.payer = PAYEES[number], PAYERS[number]
        made = call("POST", "/sessions/create", self.payee, amount_cents=5)
        self.sid, self.eid = made["sid"], made["eid"]
        self.key = uuid.uuid4().hex

    def locked(self):
        call("POST", "/sessions/lock", self.payer, sid=self.sid)
        return self

    def paid(self):
        self.locked()
        call("POST", "/wallet/send", self.payer, self.key, sid=self.sid)
        return self


def payee(case, world):
    case.path_parameters = {**(case.path_parameters or {}), "sid": world.sid}
    return world.payee


def payer(case, world):
    case.path_parameters = {**(case.path_parameters or {}), "sid": world.sid}
    return world.payer


def lock(case, world):
    case.body = {"sid": world.sid}
    return world.payer


def send(case, world):
    case.headers = {**(case.headers or {}), "Idempotency-Key": world.key}
    case.body = {"sid": world.locked().sid}
    return world.payer


def resolve(case, world):
    case.body = {"eid": world.eid}
    return None


def rotate(case, world):
    case.body = {}
    return payee(case, world)


def refund(case, world):
    case.headers = {**(case.headers or {}), "Idempotency-Key": uuid.uuid4().hex}
    case.body = {}
    return payee(case, world.paid())


def sends(case, world):
    case.path_parameters = {"key": world.paid().key}
    return world.payer


def email(case, _):
    case.body = {"email": f"someone{next(numbers)}@contract.example"}
    return None


def intent(case, world):
    case.headers = {**(case.headers or {}), "Idempotency-Key": uuid.uuid4().hex}
    case.body = {"amount_cents": 500}
    return world.payer


def withdrawal(case, world):
    case.headers = {**(case.headers or {}), "Idempotency-Key": uuid.uuid4().hex}
    case.body = {"amount_cents": 500}
    return world.payer


def empty(case, world):
    case.body = {}
    return world.payer


def made(path, name):
    def seed(case, world):
        reply = call("POST", path, world.payer, uuid.uuid4().hex, amount_cents=500)
        case.path_parameters = {"id": reply[name]}
        return world.payer
    return seed


# The preparations of operations. The other operations need only a user.
SEEDS = {
    "POST /auth/dev-login": email,
    "POST /sessions/resolve": resolve,
    "POST /sessions/lock": lock,
    "GET /sessions/{sid}": payee,
    # The stream of a session that has ended ends at once.
    "GET /sessions/{sid}/events": lambda case, world: payee(case, world.paid()),
    "POST /sessions/{sid}/cancel": payee,
    "POST /sessions/{sid}/eids": rotate,
    "POST /sessions/{sid}/unlock": lambda case, world: payer(case, world.locked()),
    "POST /sessions/{sid}/refund": refund,
    "POST /wallet/send": send,
    "GET /wallet/sends/{key}": sends,
    "POST /api/payments/intents": intent,
    "GET /api/payments/intents/{id}": made("/api/payments/intents", "payment_intent_id"),
    "POST /api/payments/intents/{id}/cancel": made("/api/payments/intents", "payment_intent_id"),
    "POST /api/wallet/withdrawals": withdrawal,
    "GET /api/wallet/withdrawals/{id}": made("/api/wallet/withdrawals", "withdrawal_id"),
    "POST /api/wallet/withdrawals/{id}/cancel": made("/api/wallet/withdrawals", "withdrawal_id"),
    "POST /api/connect/links": empty,
}
# The operations that cannot succeed here: there is no device with a credential, the mint of a
# development server pays at once, so that nothing can be cancelled, and no provider sends webhooks.
WITHOUT_SUCCESS = {
    "POST /auth/token",
    "POST /api/payments/intents/{id}/cancel",
    "POST /api/wallet/withdrawals/{id}/cancel",
    "POST /api/webhooks/stripe",
}
statuses, findings = {}, []


def judge(label, case, token, checks):
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    response = case.call(headers=headers, timeout=30)
    seen = statuses.setdefault(label, {})
    seen[str(response.status_code)] = seen.get(str(response.status_code), 0) + 1
    try:
        case.validate_response(response, checks=checks)
    except BaseException as failure:
        causes = getattr(failure, "exceptions", [failure])
        for cause in causes:
            findings.append(f"{label}: {response.status_code}: {cause}"[:1500])


def play(operation, label, mode):
    checks = CHECKS_OF_ALL + ([negative_data_rejection] if mode is GenerationMode.NEGATIVE else [])

    @settings(max_examples=EXAMPLES, derandomize=True, database=None, deadline=None,
              phases=[Phase.explicit, Phase.generate], suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy(generation_mode=mode))
    def run(case):
        if time.monotonic() > END:
            return
        # Generated requests name no open session, whose stream of events would not end.
        judge(label, case, PAYEES[next(numbers) % len(PAYEES)], checks)

    run()


def main():
    schema = schemathesis.openapi.from_url(BASE + "/openapi.yaml")
    operations = [result.ok() for result in schema.get_all_operations()]
    for operation in operations:
        label = f"{operation.method.upper()} {operation.path}"
        for _ in range(2):
            case = operation.Case(headers={}, query={})
            token = SEEDS[label](case, World()) if label in SEEDS else PAYEES[0]
            if label == "POST /sessions/create":
                case.body = {"amount_cents": 5}
            if operation.body:
                case.media_type = "application/json"
            judge(label, case, token, CHECKS_OF_ALL)
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
            try:
                play(operation, label, mode)
            except Exception as error:  # For example: schemathesis can make no invalid request.
                if "Unsatisfiable" not in type(error).__name__ and "negative" not in str(error):
                    raise
    print(json.dumps({
        "statuses": statuses,
        "findings": findings,
        "without_success": sorted(
            label for label, seen in statuses.items()
            if label not in WITHOUT_SUCCESS and not any(code.startswith("2") for code in seen)
        ),
        "in_time": time.monotonic() < END,
    }))


main()
