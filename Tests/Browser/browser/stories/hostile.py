"""Foreign pages and other users must not reach the screens."""

from __future__ import annotations

import http.client
import os
import subprocess
from typing import Any

from guest.http import Client, Refused

from ..deadline import expect
from ..origin import Origin
from ..shop import Shop
from ..world import World

STRANGER = 65534

FETCH = """
const [address, method, type] = arguments;
try {
  const reply = await fetch(address, { method, mode: type === 'simple' ? 'no-cors' : 'cors',
    headers: type === 'json' ? { 'Content-Type': 'application/json' } : {},
    body: method === 'GET' ? undefined : '{"amount_cents": 100}' });
  return [reply.type, (await reply.text()).length];
} catch (error) { return ['failed', error.name]; }
"""


def raw(port: int, path: str, method: str = "GET", **headers: str) -> int:
    """Returns the status of a request with exactly these headers."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in {"Host": f"127.0.0.1:{port}", **headers}.items():
            connection.putheader(name.replace("_", "-"), value)
        connection.endheaders()
        return connection.getresponse().status
    finally:
        connection.close()


def curl(user: int, address: str) -> str:
    """Returns the status that a local user gets for an address."""
    done = subprocess.run(
        ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "curl", "--silent"]
        + ["--max-time", "20", "--output", "/dev/null", "--write-out", "%{http_code}", address],
        capture_output=True, text=True, timeout=40,
    )  # fmt: skip
    return done.stdout


def requests(shop: Shop) -> list[Any]:
    found: list[Any] = shop.kiosk.client.get("/v1/requests")["requests"]
    return found


def paired(shop: Shop) -> Client:
    """Pairs a till, and returns a client with the till's token."""
    address = f"127.0.0.1:{shop.till_port}"
    page, own = Client(address), {"Origin": f"http://{address}"}
    offer = page.call("POST", "/v1/pairings", {}, own)
    shop.kiosk.ctl("till", "pair", offer["code"], "--name", "Front")
    return Client(address, page.call("POST", "/v1/pairings/outcome", {"ticket": offer["ticket"]}, own)["token"])


def refusal(till: Client, **headers: str) -> int | None:
    """Returns the status of a refused charge, or None if the charge is made."""
    try:
        till.post("/v1/requests", {"amount_cents": 100}, **headers)
    except Refused as refused:
        return refused.status
    return None


def hosts(world: World) -> None:
    """A call with a wrong Host, Origin, site or user is refused, even for the pages themselves."""
    shop = world.shop()
    for port, path in ((shop.display_port, "/display"), (shop.till_port, "/till")):
        expect(f"the status of {path} with its own headers", raw(port, path), 200)
        for host in (
            "127.0.0.1", "127.0.0.1:80", f"localhost:{port}", f"shop.example:{port}", f"[::1]:{port}",
            f"127.0.0.1:{port}.shop.example", "",
        ):  # fmt: skip
            status = raw(port, path, Host=host)
            expect(f"{path} is refused for the host {host!r}", status in (400, 403, 421), True)
        for headers in (
            {"Origin": "null"}, {"Origin": "http://shop.example"},
            {"Origin": f"http://localhost:{port}"}, {"Sec_Fetch_Site": "cross-site"},
            {"Sec_Fetch_Site": "same-site"},
        ):  # fmt: skip
            expect(f"the status of {path} with {headers}", raw(port, path, **headers), 403)
        if os.geteuid() == 0:
            expect(f"the status of {path} for another user", curl(STRANGER, f"http://127.0.0.1:{port}{path}"), "403")
    own = f"http://127.0.0.1:{shop.till_port}"
    till = paired(shop)
    for origin in ({}, {"Origin": "null"}, {"Origin": "http://shop.example"}, {"Origin": shop.url}):
        expect(f"the status of the till's token from {origin}", refusal(till, **origin), 403)
    expect("the requests after the refused calls", requests(shop), [])
    expect("the refusal of the till's token from its own page", refusal(till, Origin=own), None)
    expect("the number of requests after the accepted call", len(requests(shop)), 1)


def foreign(world: World) -> None:
    """A page of another origin, or without an origin, cannot read, call or frame our pages."""
    shop = world.shop()
    origin = Origin({"/": "<!doctype html><title>Elsewhere</title><main>Elsewhere</main>"})
    world.foreign = (origin.url,)
    try:
        page = world.page(origin.url)
        world.expected_complaints = (
            "blocked by CORS policy", "net::ERR_FAILED", "net::ERR_BLOCKED_BY_RESPONSE",
            "frame-ancestors 'none'", "the server responded with a status of 4",
        )  # fmt: skip
        own = {
            "display": f"http://127.0.0.1:{shop.display_port}",
            "till": f"http://127.0.0.1:{shop.till_port}",
            "server": shop.url,
        }
        for name, address in own.items():
            for path in ("/display", "/till", "/v1/display", "/v1/requests", "/web", "/web/login"):
                for method, kind in (("GET", "cors"), ("POST", "json"), ("POST", "simple")):
                    told, what = page.run_async(FETCH, address + path, method, kind)
                    if told not in ("failed", "opaque") or (told == "opaque" and what != 0):
                        raise AssertionError(f"{method} {path} of the {name} gave {told} {what}")
        for address in (shop.display, shop.till, f"{shop.url}/web/login"):
            page.script(
                "const f = document.createElement('iframe'); f.src = arguments[0];"
                "f.onload = () => { f.dataset.loaded = true }; document.body.append(f)",
                address,
            )
        page.wait("all frames to be loaded", lambda p: len(p.all("iframe[data-loaded]")) == 3)
        for frame in page.all("iframe"):
            page.driver.switch_to.frame(frame)
            body = page.script("return document.documentElement.innerText")
            page.driver.switch_to.default_content()
            for word in ("Pay here", "Charge", "Log in"):
                if word in body:
                    raise AssertionError(f"{frame.get_attribute('src')} is framed: {body[:200]!r}")
        # A sandboxed document has the origin "null".
        page.open(f"{origin.url}/#sandbox")
        page.script(
            "const f = document.createElement('iframe'); f.sandbox = 'allow-scripts allow-forms';"
            "f.srcdoc = arguments[0]; f.onload = () => { f.dataset.loaded = true };"
            "document.body.append(f)",
            f"""<script>fetch('{own['till']}/v1/requests', {{ method: 'POST', mode: 'no-cors',
            body: '{{"amount_cents": 100}}' }})</script>
            <form method=post action="{shop.url}/web/logout"></form>
            <script>document.forms[0].submit()</script>""",
        )
        page.wait("the sandboxed frame to be loaded", lambda p: p.all("iframe[data-loaded]"))
        expect("the requests after the calls of foreign pages", requests(shop), [])
    finally:
        origin.close()
