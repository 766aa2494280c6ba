"""The payer's pages on a phone without the app, from the code on the display to the payment."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from guest.http import Client

from ..chromium import Page
from ..deadline import eventually, expect, expect_at_most
from ..shop import OPENING_BALANCE, Shop
from ..world import World
from .display import shown_at, state, wait_for, watched
from .hostile import requests
from .till import charge, rows, till
from .web import MERCHANT, PHONE, POST, enter, filled, judge, login


def read_qr_code(page: Page, folder: Path) -> str:
    """Returns the URL that a phone's camera reads from the display, or an empty text."""
    file = folder / "display.png"
    file.write_bytes(page.picture())
    found = subprocess.run(["zbarimg", "--quiet", "--raw", file], capture_output=True, text=True, timeout=60)
    return found.stdout.strip()


def phone(world: World) -> None:
    """A request at the till is scanned with a phone, paid once and refunded by the merchant. The
    display shows PAID within 300 ms."""
    shop = world.shop()
    counter = till(world, shop, "--refunds", "50.00/day")
    display = watched(world, shop.display)
    charge(counter, "1280")
    wait_for(display, "waiting")
    display.wait("the display to show the code", lambda page: page.all("#pay:not([hidden])"))
    request = requests(shop)[0]
    url = read_qr_code(display, shop.folder)
    expect("the URL that the camera reads", url, f"{shop.url}/p/{request['eid']}".upper())
    page = world.page(url.replace("HTTP://", "http://"), *PHONE)
    page.wait_for_text("$12.80")
    judge(page, "a request")
    digits = display.text("#code-text")
    expect("the last digits on phone and display", (page.text(".compare b"), digits), (digits, request["eid"][-4:]))
    expect("the request's state after the phone showed it", shop.kiosk.request_state(request), "advertising")
    expect("the display's state after the phone showed the request", state(display), "waiting")
    page.leave("a.main")
    enter(page, "walker@example.com")
    page.wait_for_text("Pay $12.80")
    judge(page, "a request that can be paid")
    address, form = filled(page, "form[method=post][action*='/p/']")
    page.leave("form[action*='/p/'] button")
    page.wait_for_text("Paid")
    judge(page, "a payment")
    wait_for(display, "paid")
    late = shown_at(display, "paid") - shop.paid_at(request)
    world.figures["phone_paid_milliseconds"] = round(late)
    expect_at_most("milliseconds from the ledger's time to PAID", late, 300)
    counter.wait("the till's row to be paid", lambda page: "Paid" in str(rows(page)))
    page.driver.refresh()
    page.wait_for_text("Paid")
    expect("the status of the same form sent again", page.run_async(POST, address, form), 200)
    page.open(f"{shop.url}/web/wallet")
    page.wait_for_text("$87.20")
    judge(page, "the wallet")
    merchant = login(world, shop, MERCHANT, path="/web/earnings?period=today")
    merchant.wait_for_text("$12.80")
    merchant.leave("table.list tbody tr:first-child a")
    merchant.leave("#refund button")
    merchant.wait_for_text("Refunded")
    expect("the payer's balance after the refund", balance(shop, "walker@example.com"), OPENING_BALANCE)
    counter.script("document.querySelector('#rows button').click()")
    counter.wait_for_text("All of it was refunded already", "#refund-problem")
    expect("the refund button is enabled", counter.find("#refund-do").is_enabled(), False)
    counter.press("Escape")
    counter.wait("the till's row to be refunded", lambda page: "Refunded" in str(rows(page)))


def states(world: World) -> None:
    """The payer's page shows each outcome of a request in which the payer is not charged, and is
    accessible."""
    shop = world.shop()
    brief = shop.kiosk.request(100, ttl_seconds=10)
    page = login(world, shop, "walker@example.com", PHONE).open(f"{shop.url}/p")
    page.wait_for_text("ten digits")
    judge(page, "the field for digits")
    page.find("input[name=eid]").send_keys("12 oranges")
    page.leave("form button.main")
    page.wait_for_text("not ten digits")
    judge(page, "the page for a text that is not ten digits")
    open_and_check(page, shop, "0123456789", "No such request")
    open_and_check(page, shop, shop.kiosk.request(20_000)["eid"], "Not enough money")

    other = shop.login("other@example.com")
    request = shop.kiosk.request(500)
    other.post("/sessions/lock", {"sid": request["id"]})
    open_and_check(page, shop, request["eid"], "Somebody else is paying this")
    # The page reloads itself.
    other.post(f"/sessions/{request['id']}/unlock", {})
    page.wait_for_text("Pay $5.00")
    pay(other, request)
    page.leave("form[action*='/p/'] button")
    page.wait_for_text("This press charged nothing")
    judge(page, "the page after a late payment")
    open_and_check(page, shop, request["eid"], "You were not charged")

    request = shop.kiosk.request(600)
    page.open(f"{shop.url}/p/{request['eid']}/result?sid={request['id']}&key=browser-not-known-yet")
    page.wait_for_text("Being found out")
    judge(page, "the page with an unknown outcome")
    shop.server.kill()
    page.wait("a failed call to the killed server", lambda _: "net::ERR_" in str(world.chromium.complaints()))
    expect("the page shows an unknown outcome while the server is down", "Being found out" in page.text(), True)
    shop.start_server()
    shop.kiosk.client.call("DELETE", f"/v1/requests/{request['id']}")
    page.wait_for_text("You were not charged")
    open_and_check(page, shop, request["eid"], "Cancelled")
    eventually("the brief request to expire", lambda: shop.kiosk.request_state(brief) == "expired")
    open_and_check(page, shop, brief["eid"], "Time is up")
    own = login(world, shop, MERCHANT, PHONE)
    open_and_check(own, shop, shop.kiosk.request(700)["eid"], "your own request")
    expect("the payer's balance after all outcomes", balance(shop, "walker@example.com"), OPENING_BALANCE)
    world.expected_complaints = ("status of 4", "net::ERR_")


TRANSLATIONS = {
    "de": ("ltr", "Anmelden und zahlen", "12,80\u00a0$ zahlen", "Bezahlt", "Zur Wallet", "zehn Zeichen", "Keine solche Zahlung"),
    "ar": ("rtl", "سجّل الدخول لتدفع", "ادفع", "تم الدفع", "إلى المحفظة", "خانات الطلب العشر", "لا يوجد طلب كهذا"),
}
"""The direction of writing and some texts of the pages in other languages."""


def open_in_language(world: World, language: str, url: str) -> Page:
    """Opens a page on a phone that prefers a language. Nobody is logged in."""
    world.chromium.forget_cookies()
    page = world.page("about:blank", *PHONE)
    page.protocol("Network.setExtraHTTPHeaders", headers={"Accept-Language": language})
    return page.open(url)


def languages(world: World) -> None:
    """A payer pays, views the wallet and makes a deposit, in German and in Arabic (right to left).
    The pages are accessible."""
    shop = world.shop()
    for language, (direction, log_in, pay_it, paid, wallet, digits, nothing) in TRANSLATIONS.items():
        request = shop.kiosk.request(1_280, memo="Flat white")
        page = open_in_language(world, language, f"{shop.url}/p/{request['eid']}")
        page.wait_for_text(log_in)
        expect("the page's direction", page.script("return getComputedStyle(document.body).direction"), direction)
        judge(page, f"a request in {language}")
        page.leave("a.main")
        judge(page, f"the login in {language}")
        enter(page, f"{language}@example.com")
        page.wait_for_text(pay_it, "form button.main")
        judge(page, f"a request that can be paid in {language}")
        page.leave("form[action*='/p/'] button")
        page.wait_for_text(paid)
        judge(page, f"a payment in {language}")
        eventually("the kiosk to report the payment", lambda: shop.kiosk.request_state(request) == "paid")
        page.wait_for_text(wallet)
        page.open(f"{shop.url}/web/wallet")
        page.find("#add input[name=amount]").send_keys("20,50")
        page.leave("#add button")
        page.wait("the deposit to be added", lambda page: page.all("#deposits .chip.good"))
        wanted = OPENING_BALANCE - 1_280 + 2_050
        expect("the wallet's balance after the deposit", balance(shop, f"{language}@example.com"), wanted)
        for width, height in (PHONE, (1280, 800)):
            page.resize(width, height)
            judge(page, f"a wallet of {width}×{height} in {language}")
        page.open(f"{shop.url}/p").wait_for_text(digits)
        judge(page, f"the field for digits in {language}")
        page.open(f"{shop.url}/p/0123456789").wait_for_text(nothing)
        judge(page, f"the page without a request in {language}")
        # The server's problem is in English, in a page in another language.
        judge(page.open(f"{shop.url}/web/wallet?cursor=x"), f"the page with a problem in {language}")
    world.expected_complaints = ("status of 4",)


def balance(shop: Shop, email: str) -> int:
    found: int = shop.login(email).get("/api/wallet/balance")["balance_cents"]
    return found


def open_and_check(page: Page, shop: Shop, eid: str, words: str) -> None:
    """Opens a request's page, which must contain these words and be accessible."""
    page.open(f"{shop.url}/p/{eid}")
    page.wait_for_text(words)
    judge(page, words)


def pay(payer: Client, request: dict[str, Any]) -> None:
    payer.post("/sessions/lock", {"sid": request["id"]})
    payer.post("/wallet/send", {"sid": request["id"]}, Idempotency_Key=f"browser-{request['id']}")


def code(world: World) -> None:
    """The code changes with the EID, and disappears when a payer has locked the request."""
    shop = world.shop(kiosk={"eid_seconds": 10})
    display = world.page(shop.display)
    request = shop.kiosk.request(300)
    wait_for(display, "waiting")

    def read() -> str:
        return read_qr_code(display, shop.folder)

    first = eventually("a code that the camera reads", read)
    second = eventually("another code after the EID's change", lambda: (new := read()) != first and new, 40)
    now = shop.kiosk.client.get(f"/v1/requests/{request['id']}")["eid"]
    expect("the second code has the current EID", second.lower().endswith(now), True)
    leaver = shop.login("leaver@example.com")
    leaver.post("/sessions/lock", {"sid": request["id"]})
    wait_for(display, "confirming")
    is_hidden = display.script("return document.getElementById('pay').hidden")
    expect("the code is hidden while a payer confirms", is_hidden, True)
    expect("the text that the camera reads while a payer confirms", read(), "")
