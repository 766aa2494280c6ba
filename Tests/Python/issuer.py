"""An OpenID issuer for tests. Generates its keys when it starts, publishes them, and signs or
forges tokens on request, with PyJWT.

Prints its port. GET /jwks.json is the key set. POST /do takes {"op": ...} and answers in JSON.

It is also an OpenID provider: GET /.well-known/openid-configuration, GET /authorize, which logs
every caller in at once, and POST /token. The ID token has the claims that are set as "person".
"""

import base64
import hashlib
import hmac
import json
import secrets
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm


def new_keys():
    return {
        "rsa": ("RS256", rsa.generate_private_key(65537, 2048), RSAAlgorithm),
        "pss": ("PS256", rsa.generate_private_key(65537, 2048), RSAAlgorithm),
        "short": ("RS256", rsa.generate_private_key(65537, 1024), RSAAlgorithm),
        "p256": ("ES256", ec.generate_private_key(ec.SECP256R1()), ECAlgorithm),
        "p384": ("ES384", ec.generate_private_key(ec.SECP384R1()), ECAlgorithm),
        "ed": ("EdDSA", ed25519.Ed25519PrivateKey.generate(), OKPAlgorithm),
        "stranger": ("ES256", ec.generate_private_key(ec.SECP256R1()), ECAlgorithm),
    }


KEYS = new_keys()
STATE = {
    "published": [name for name in KEYS if name != "stranger"],
    "mode": "ok",
    "fetches": 0,
    # The claims of the next ID token, the granted scope, the client's secret, and changes of the
    # provider's description.
    "person": {"sub": "anna"},
    "granted": "openid payee payer",
    "secret": None,
    "description": {},
}
CODES = {}
ASKED = []


def description():
    return {
        "issuer": BASE,
        "authorization_endpoint": BASE + "/authorize?tenant=1",
        "token_endpoint": BASE + "/token",
        "jwks_uri": BASE + "/jwks.json",
        "code_challenge_methods_supported": ["S256"],
        **STATE["description"],
    }


def authorize(asked):
    """Returns the address to which the provider redirects after a login, with a new code."""
    assert asked["response_type"] == "code" and asked["code_challenge_method"] == "S256"
    code = secrets.token_urlsafe(24)
    CODES[code] = asked
    ASKED.append(asked)
    back = {"code": code, "state": asked["state"], "iss": BASE, "session_state": "x"}
    return asked["redirect_uri"] + "?" + urlencode(back)


def exchange(form, authorization):
    """Exchanges a code for tokens, once, and only for the client that began the login. Returns the
    status and the reply."""
    asked = CODES.pop(form.get("code"), None)
    if asked is None or form.get("grant_type") != "authorization_code":
        return 400, {"error": "invalid_grant"}
    verifier = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
    if encode(verifier) != asked["code_challenge"]:
        return 400, {"error": "invalid_grant"}
    if form.get("redirect_uri") != asked["redirect_uri"]:
        return 400, {"error": "invalid_grant"}
    client = form.get("client_id")
    if STATE["secret"]:
        pair = base64.b64decode((authorization or "").removeprefix("Basic ")).decode()
        client, _, secret = (unquote(part) for part in pair.partition(":"))
        if secret != STATE["secret"]:
            return 401, {"error": "invalid_client"}
    if client != asked["client_id"]:
        return 401, {"error": "invalid_client"}
    person = {"iss": BASE, "aud": client, "nonce": asked["nonce"], "scope": None}
    if "max_age" in asked:
        person["auth_time"] = "now"
    given = {"claims": {**person, **STATE["person"]}}
    reply = {"id_token": token(given), "access_token": "x", "token_type": "Bearer"}
    if STATE["granted"] is not None:
        reply["scope"] = STATE["granted"]
    return 200, reply


def public_key(name):
    algorithm, key, kind = KEYS[name]
    entry = json.loads(kind.to_jwk(key.public_key()))
    entry.update({"kid": name, "use": "sig"})
    # The other keys have no algorithm, so that the reader must derive it from the kind of key.
    if name in ("pss", "rsa"):
        entry["alg"] = algorithm
    return entry


def key_set():
    # A shared secret in a public key set must never be used as a key.
    secret = {"kty": "oct", "kid": "secret", "alg": "HS256", "k": encode(b"k" * 32)}
    return {"keys": [public_key(name) for name in STATE["published"]] + [secret]}


def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def claims(given):
    now = time.time()
    all_claims = {
        "iss": "https://issuer.example",
        "aud": "gotchu",
        "sub": "anna",
        "iat": int(now),
        "exp": int(now) + 300,
        "scope": "openid payee payer",
    }
    for name, value in given.items():
        if isinstance(value, str) and value.startswith("now"):
            value = int(now) + int(value[3:] or 0)
        all_claims[name] = value
        if value is None:
            del all_claims[name]
    return all_claims


def token(request):
    name = request.get("key", "p256")
    algorithm, key, _ = KEYS[name]
    headers = {"kid": request.get("kid", name), **request.get("headers", {})}
    return jwt.encode(
        claims(request.get("claims", {})), key, request.get("alg", algorithm), headers
    )


def forged(request):
    """Returns a token with any header and payload: unsigned, signed with a public key or another
    text as the secret, or signed with a real key."""
    header = request["header"]
    payload = request.get("payload")
    if payload is None:
        payload = json.dumps(claims(request.get("claims", {})))
    signed = (encode(json.dumps(header).encode()) if isinstance(header, dict) else encode(
        header.encode())) + "." + encode(payload.encode())
    by = request["by"]
    if by == "nobody":
        return signed + "."
    if by.startswith("public:"):
        # A well-known attack uses the published RSA or EC key as the shared secret.
        pem = KEYS[by[7:]][1].public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        return signed + "." + encode(hmac.new(pem, signed.encode(), hashlib.sha256).digest())
    if by.startswith("secret:"):
        key = base64.b64decode(by[7:])
        return signed + "." + encode(hmac.new(key, signed.encode(), hashlib.sha256).digest())
    algorithm, key, _ = KEYS[by]
    sign = jwt.get_algorithm_by_name(algorithm)
    return signed + "." + encode(sign.sign(signed.encode(), key))


class Issuer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        address = urlsplit(self.path)
        if address.path == "/.well-known/openid-configuration":
            return self.answer(200, json.dumps(description()).encode())
        if address.path == "/authorize":
            asked = {name: values[0] for name, values in parse_qs(address.query).items()}
            self.send_response(303)
            self.send_header("Location", authorize(asked))
            self.send_header("Content-Length", "0")
            return self.end_headers()
        STATE["fetches"] += 1
        mode = STATE["mode"]
        if mode == "fail":
            self.answer(500, b"{}")
        elif mode == "huge":
            self.answer(200, b'{"keys":[' + b" " * 1_000_000 + b"]}")
        elif mode == "redirect":
            self.send_response(302)
            self.send_header("Location", "/elsewhere.json")
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            self.answer(200, json.dumps(key_set()).encode())

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/token":
            form = {name: values[0] for name, values in parse_qs(body.decode()).items()}
            status, reply = exchange(form, self.headers["Authorization"])
            return self.answer(status, json.dumps(reply).encode())
        request = json.loads(body)
        match request["op"]:
            case "token":
                reply = {"token": token(request)}
            case "forge":
                reply = {"token": forged(request)}
            case "set":
                STATE.update({k: v for k, v in request.items() if k != "op"})
                reply = {}
            case "keys":
                reply = key_set()
            case "adopt":
                # Makes a code work for a login again, as a faulty provider does.
                state = parse_qs(urlsplit(request["of"]).query)["state"][0]
                CODES[request["code"]] = next(a for a in ASKED if a["state"] == state)
                reply = {}
            case "fetches":
                reply = {"fetches": STATE["fetches"]}
        self.answer(200, json.dumps(reply).encode())


server = ThreadingHTTPServer(("127.0.0.1", 0), Issuer)
BASE = f"http://127.0.0.1:{server.server_address[1]}"
print(f"listening {server.server_address[1]}", flush=True)
server.serve_forever()
