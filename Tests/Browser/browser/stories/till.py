"""The till's page: a cashier's work with mouse and keyboard, and actions that must not happen
twice."""

from __future__ import annotations

import csv
import json
import signal
from pathlib import Path

from guest.http import Client, Refused

from ..chromium import KEYS, Page
from ..deadline import eventually, expect
from ..shop import Shop
from ..world import World
from .display import wait_for
from .hostile import requests


def code(page: Page) -> str:
    """Returns the pairing code on an unpaired till's page."""
    found: str = page.wait(
        "the pairing code", lambda page: page.text("#code").replace(" ", "").isdigit() and page.text("#code")
    )
    return found.replace(" ", "")


def pair(shop: Shop, page: Page, *more: str, name: str = "Front") -> None:
    paired = shop.kiosk.ctl("till", "pair", code(page), "--name", name, *more)
    expect(f"the exit status of pair ({paired.stderr})", paired.returncode, 0)
    page.wait_for_text("Ready", "#health")


def till(world: World, shop: Shop, *more: str) -> Page:
    """Returns a till's page that is paired and ready."""
    page = world.page(shop.till)
    pair(shop, page, *more)
    return page


def rows(page: Page) -> list[str]:
    return [" ".join(row.text.split()) for row in page.all("#rows > li")]


def charge(page: Page, digits: str) -> None:
    page.type(digits)
    page.wait("the charge button to be enabled", lambda page: page.find("#charge").is_enabled())
    page.press("Enter")


def keyboard(world: World) -> None:
    """A cashier makes a sale, a cancellation, a refund and the end of the day with keys alone.
    Display, till and ledger agree."""
    shop = world.shop()
    page = till(world, shop, "--refunds", "50.00/day")
    display = world.page(shop.display)
    page.type("1280")
    expect("the typed amount", page.find("#figure").get_attribute("value"), "$12.80")
    page.press("m")
    page.wait("the focus in the memo", lambda page: page.focus() == "memo")
    page.type("Coffee")
    page.press("Enter")
    wait_for(display, "waiting")
    shown = [words in display.text() for words in ("$12.80", "Coffee")]
    expect("the display shows the amount and the memo", shown, [True, True])
    page.wait("the waiting row", lambda page: any("Waiting" in row and "Coffee" in row for row in rows(page)))
    sold = requests(shop)[0]
    shop.payer.pay(sold)
    page.wait("the row to be paid", lambda page: any("Paid" in row for row in rows(page)))
    wait_for(display, "paid")

    page.press("Escape")
    charge(page, "300")
    page.wait("the second row", lambda page: len(rows(page)) == 2)
    page.press("c")
    page.wait("the second row to be cancelled", lambda page: "Cancelled" in rows(page)[0])

    page.press("Down", "Down")
    page.wait("the focus on the paid row", lambda page: "Paid" in page.driver.switch_to.active_element.text)
    page.press("r")
    page.wait("the question before the refund", lambda page: page.focus() == "keep")
    page.press("Enter")
    page.wait("the question to close", lambda page: not page.script("return document.getElementById('refund').open"))
    expect("the refunds after Enter at the question", shop.kiosk.refunds(), [])
    page.wait("the focus on the paid row again", lambda page: "Paid" in page.driver.switch_to.active_element.text)
    page.press("r")
    page.wait("the question before the refund", lambda page: page.focus() == "keep")
    page.press("Tab")
    page.wait("the focus on the refund button", lambda page: page.focus() == "refund-do")
    page.press("Enter")
    page.wait("the refunded row", lambda page: any("Refunded" in row for row in rows(page)))

    page.press("F8")
    page.wait_for_text("Kept", "#report")
    sums = page.text("#sums").split()
    expect("the day's sums", [s for s in sums if any(c.isdigit() for c in s)], ["$12.80", "1", "−$12.80", "$0.00"])
    page.press("Escape")
    page.wait("the report to close", lambda page: not page.script("return document.getElementById('report').open"))
    expect("the payer's balance after the refund", shop.payer.balance(), 10_000)


def once(world: World) -> None:
    """While the server does not answer, repeated presses of the button and reloads make only one
    request."""
    shop = world.shop()
    page = till(world, shop)
    shop.server.signal(signal.SIGSTOP)
    charge(page, "450")
    page.press("Enter")
    page.driver.refresh()
    page.wait("the amount after a reload", lambda page: page.find("#figure").get_attribute("value") == "$4.50")
    page.press("Enter")
    page.driver.refresh()
    shop.server.signal(signal.SIGCONT)
    page.wait("one waiting row", lambda page: len(rows(page)) == 1 and "Waiting" in rows(page)[0])
    expect("the amount field after the request", page.find("#figure").get_attribute("value"), "$0.00")
    expect("the amounts of all requests", [r["amount_cents"] for r in requests(shop)], [450])
    charge(page, "450")
    page.wait("a second row after another press", lambda page: len(rows(page)) == 2)
    # The console may report that gotchud or the page stopped waiting for an answer.
    world.expected_complaints = ("net::ERR_", "the server responded with a status of 5")


def copy(world: World) -> None:
    """A copy of a till's page begins a sale of its own. A copied key that was paid already is no
    payment of the next customer, and the amount can be charged with another press."""
    shop = world.shop()
    page = till(world, shop)
    page.type("640")
    stored = page.script("return {...sessionStorage}")
    page.script("open('/till')")
    other = world.latest_page()
    other.wait_for_text("Ready", "#health")
    expect("the amount of the copy", other.find("#figure").get_attribute("value"), "$0.00")
    page.driver.refresh()
    page.wait("the amount after a reload", lambda page: page.find("#figure").get_attribute("value") == "$6.40")
    page.wait("the charge button to be enabled", lambda page: page.find("#charge").is_enabled())
    page.press("Enter")
    page.wait("the request's row", rows)
    sold = requests(shop)[0]
    shop.payer.pay(sold)
    page.wait("the row to be paid", lambda page: "Paid" in rows(page)[0])

    def restore(cents: int) -> None:
        """Gives the other page the sale of the first, as a browser does that restores its tabs."""
        sale = json.loads(stored["gotchu-till-sale"]) | {"page": "restored", "cents": cents}
        other.script("sessionStorage.setItem('gotchu-till-sale', arguments[0])", json.dumps(sale))
        other.driver.refresh()
        other.wait("the charge button to be enabled", lambda page: page.find("#charge").is_enabled())
        other.press("Enter")

    restore(640)
    other.wait_for_text("This sale was paid at", "#problem")
    expect("the amount is kept", other.find("#figure").get_attribute("value"), "$6.40")
    expect("the requests after the copied key", [r["id"] for r in requests(shop)], [sold["id"]])
    other.press("Enter")
    other.wait("the row of the second sale", lambda page: len(rows(page)) == 2)
    expect("the amount after the second sale", other.find("#figure").get_attribute("value"), "$0.00")
    expect("the problem after the second sale", other.text("#problem"), "")
    restore(150)
    other.wait_for_text("Another amount was requested for this sale before", "#problem")
    other.press("Enter")
    other.wait("the row of the third sale", lambda page: len(rows(page)) == 3)
    expect("the amounts of all requests", sorted(r["amount_cents"] for r in requests(shop)), [150, 640, 640])
    world.expected_complaints = ("status of 4",)


def scanner(world: World) -> None:
    """A barcode scanner's input becomes the memo, and the line end of the scanner does not
    charge."""
    shop = world.shop()
    page = till(world, shop)
    page.type("150")
    page.press("4006381333931" + KEYS["Enter"])
    page.wait("the digits in the memo", lambda page: page.find("#memo").get_attribute("value") == "4006381333931")
    expect("the amount after the scan", page.find("#figure").get_attribute("value"), "$1.50")
    # If the line end had charged, there would be a request for $1.50.
    charge(page, "0")
    page.wait("the request's row", rows)
    made = [(r["amount_cents"], r["memo"]) for r in requests(shop)]
    expect("the amounts and memos of all requests", made, [(1_500, "4006381333931")])


def pairing(world: World) -> None:
    """A wrong code pairs no till, a code works only once, and a user who has typed five wrong codes
    must wait. The token of a revoked till is refused."""
    shop = world.shop()
    page = world.page(shop.till)
    shown = code(page)
    wrong = f"{(int(shown) + 1) % 1_000_000:06}"
    guess = shop.kiosk.ctl("till", "pair", wrong, "--name", "Back")
    expect("a wrong code is refused", guess.returncode != 0, True)
    pair(shop, page)
    again = shop.kiosk.ctl("till", "pair", shown, "--name", "Again")
    expect("a used code is refused", again.returncode != 0, True)
    token = page.script("return localStorage.getItem('gotchu-till-token')")
    own = Client(f"127.0.0.1:{shop.till_port}", token)
    expect("the till's name", own.get("/v1/till")["name"], "Front")
    for what, client in (
        ("the status without a token", Client(f"127.0.0.1:{shop.till_port}")),
        ("the status with another token", Client(f"127.0.0.1:{shop.till_port}", token[:-2] + "AA")),
    ):
        expect(what, refusal(client), 401)
    elsewhere = Client(f"127.0.0.1:{shop.display_port}", token)
    expect("the status of the till's token at the display's port", refusal(elsewhere), 404)
    revoked = shop.kiosk.ctl("till", "revoke", "Front")
    expect("the exit status of revoke", revoked.returncode, 0)
    second = code(page)
    expect("the status of the revoked token", refusal(own), 401)
    for number in range(5):
        other = f"{(int(second) + 1 + number) % 1_000_000:06}"
        shop.kiosk.ctl("till", "pair", other, "--name", "Guess")
    guessed = shop.kiosk.ctl("till", "pair", second, "--name", "Guess")
    expect(f"the exit status after five wrong codes ({guessed.stderr})", guessed.returncode, 75)
    expect("the page keeps its code", code(page), second)
    # The browser's console reports the refused calls.
    world.expected_complaints = ("status of 401", "status of 404", "status of 410")


def refusal(client: Client) -> int:
    try:
        client.post("/v1/requests", {"amount_cents": 100}, Origin=f"http://{client._address}")
    except Refused as refused:
        return refused.status
    return 200


def limit(world: World) -> None:
    """A refund above the till's daily limit is refused with a text and moves no money. A refund
    within the limit is made."""
    shop = world.shop()
    page = till(world, shop, "--refunds", "5.00/day")
    sold = shop.pay_new_request(1_000)
    page.wait("the paid row", lambda page: any("Paid" in row for row in rows(page)))
    page.script("document.querySelector('#rows button').click()")
    page.wait("the question before the refund", lambda page: page.focus() == "keep")
    page.script("document.getElementById('refund-do').click()")
    page.wait_for_text("Nothing was refunded.", "#refund-problem")
    expect("the payer's balance after the refused refund", shop.payer.balance(), 9_000)
    expect("the refunds after the refused one", shop.kiosk.refunds(), [])
    page.find("#refund-amount").clear()
    page.find("#refund-amount").send_keys("5.00")
    page.script("document.getElementById('refund-do').click()")
    page.wait("the row of the refund within the limit", lambda page: any("Refunded" in row for row in rows(page)))
    expect("the request's state after the refund", shop.kiosk.request_state(sold), "paid")
    world.expected_complaints = ("status of 4",)


def report(world: World) -> None:
    """The end of the day shows the ledger's sums, and its CSV has the same sums. If the server does
    not answer, the page shows a problem and no sums."""
    shop = world.shop()
    page = till(world, shop)
    folder = shop.folder / "downloads"
    folder.mkdir()
    page.protocol("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
    for amount, memo in ((1_280, "=1+1"), (450, 'Tea, "black"'), (20, "")):
        shop.pay_new_request(amount, **({"memo": memo} if memo else {}))
    page.press("F8")
    page.wait_for_text("Kept", "#report")
    expect("the report's sums", [w for w in page.text("#sums").split() if "$" in w or w.isdigit()],
           ["$17.50", "3", "$0.00", "$17.50"])
    page.script("document.getElementById('save').click()")

    def saved() -> Path | None:
        return next((file for file in folder.glob("*.csv")), None)

    file = eventually("the report's CSV file", saved)
    lines = list(csv.reader(file.read_text().splitlines()))
    expect("the numbers of columns in the file's lines", {len(line) for line in lines}, {len(lines[0])})
    flat = [cell for line in lines for cell in line]
    expect("cells that a spreadsheet would run as formulas", [c for c in flat if c[:1] in ("=", "@", "+")], [])
    expect("the file has the day's sum", "1750" in flat, True)
    shop.server.signal(signal.SIGSTOP)
    page.press("F8")
    page.wait(
        "the report's problem instead of sums",
        lambda page: page.text("#report-problem") and not page.text("#sums"),
        60,
    )
    shop.server.signal(signal.SIGCONT)
    world.expected_complaints = ("status of 5", "net::ERR_")


CUT = """
return [...document.querySelectorAll('#rows, #rows > li, dialog[open]')]
  .filter(e => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1).map(e => e.id || e.textContent);
"""
"""A script that returns elements with more content than they show."""


def judge(page: Page, name: str) -> None:
    """Checks that a page is accessible, is no wider than the screen, and cuts no content off."""
    expect(f"the faults that axe finds in {name}", page.faults(), [])
    expect(f"the elements that are cut off in {name}", page.script(CUT), [])
    wide = page.script("return document.documentElement.scrollWidth - innerWidth")
    expect(f"the pixels by which {name} is wider than the screen", max(0, wide), 0)


def cashier(world: World) -> None:
    """The till's page is accessible and fits its window, paired or not, and in each dialog. A memo
    stays text."""
    shop = world.shop()
    page = world.page(shop.till)
    code(page)
    judge(page, "a till that is not paired")
    pair(shop, page, "--refunds", "50.00/day")
    page.wait_for_text("No requests yet")
    judge(page, "a till without a request")
    part = shop.pay_new_request(500)
    shop.kiosk.client.post("/v1/refunds", {"sid": part["id"], "amount_cents": 200})
    page.driver.refresh()
    shop.kiosk.request(900, memo='<img src=x onerror="document.title=1"> \u05e9\u05dc\u05d5\u05dd')
    shop.kiosk.request(100_000_000, memo="W" * 140)
    sold = shop.pay_new_request(400, memo="Soup")
    cancelled = shop.kiosk.request(300)
    shop.kiosk.client.call("DELETE", f"/v1/requests/{cancelled['id']}")
    page.wait("all five rows", lambda page: len(rows(page)) == 5 and "Refunded $2.00" in str(rows(page)))
    expect("the number of images made from the memo", len(page.all("img")), 0)
    page.type("99999999")
    for width, height in ((800, 480), (480, 800), (390, 844), (1280, 800)):
        page.resize(width, height)
        judge(page, f"a till of {width}×{height}")
    refund = f"document.querySelector('[data-id=\"{sold['id']}\"] button').click()"
    for opening, name in (
        ("document.getElementById('open-report').click()", "report"),
        ("document.getElementById('open-help').click()", "help"),
        (refund, "refund"),
    ):
        page.script(opening)
        page.wait(f"the dialog {name}", lambda page: page.all(f"#{name}[open]"))
        for width, height in ((390, 844), (1280, 800)):
            page.resize(width, height)
            judge(page, f"the dialog {name}")
        page.script("document.getElementById(arguments[0]).close()", name)
    world.figures["till_bytes"] = world.chromium.loaded(shop.till.removesuffix("till"))


def trouble(world: World) -> None:
    """A till's page is accessible with an unknown outcome, with an expired request, without an
    adapter and without gotchud."""
    shop = world.shop()
    page = till(world, shop)
    shop.kiosk.request(500, ttl_seconds=10)
    page.wait("the request's row", rows)
    shop.server.signal(signal.SIGSTOP)
    page.wait_for_text("Hand nothing out", seconds=40)
    judge(page, "a request that is being checked")
    page.wait("the till's problem with the server", lambda page: page.text("#health") not in ("", "Ready"))
    judge(page, "a till whose server is silent")
    shop.server.signal(signal.SIGCONT)
    page.wait_for_text("Time is up")
    page.wait_for_text("Ready", "#health")
    judge(page, "a request whose time is up")
    shop.kiosk.switch_adapter(is_on=False)
    page.wait("the till's problem with the adapter", lambda page: page.text("#health") != "Ready")
    judge(page, "a till without an adapter")
    shop.kiosk.process.kill()
    page.wait_for_text("No connection to gotchud", "#health")
    judge(page, "a till without gotchud")
    world.expected_complaints = ("net::ERR_",)


def update(world: World) -> None:
    """A till's page reloads after an update of gotchud, but not while it has a typed amount."""
    shop = world.shop()
    page = till(world, shop)
    page.script(
        "window.isOld = true; const get = Headers.prototype.get;"
        "Headers.prototype.get = function (name) {"
        " return name === 'Gotchu-Version' ? 'another' : get.call(this, name) }"
    )
    page.type("450")
    page.press("F8")
    page.wait_for_text("Kept", "#report")
    page.press("Escape")
    kept = page.script("return [window.isOld, window.figure.value]")
    expect("the old page is kept with its amount", kept, [True, "$4.50"])
    page.press("Enter")
    page.wait("the request's row", rows)
    page.press("c")
    page.wait("the page to reload", lambda page: page.script("return window.isOld === undefined"))
    page.wait("the cancelled row", lambda page: "Cancelled" in str(rows(page)))
    expect("the amounts of all requests", [each["amount_cents"] for each in requests(shop)], [450])
