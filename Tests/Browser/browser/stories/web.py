"""The server's pages for merchants and payers, in a large window, on a phone and without
scripts."""

from __future__ import annotations

import csv
import io
import os
import signal
from pathlib import Path

from ..chromium import Page
from ..deadline import eventually, expect
from ..origin import Origin
from ..shop import OPENING_BALANCE, Shop
from ..world import World

PHONE = (390, 844)
MERCHANT = "kiosk@example.com"
"""The email address of the kiosk's user, who is the merchant."""


def login(world: World, shop: Shop, email: str, size: tuple[int, int] = (1280, 800), path: str = "/web") -> Page:
    """Logs a user in on a new page, and all others out."""
    world.chromium.forget_cookies()
    page = world.page(shop.url + path, *size)
    enter(page, email)
    return page


def enter(page: Page, email: str) -> None:
    page.wait("the field for the email address", lambda page: page.all("input[name=email]"))
    page.find("input[name=email]").send_keys(email)
    page.leave("main button, form button.main")


POST = "return (await fetch(arguments[0], { method: 'POST', body: new URLSearchParams(arguments[1]) })).status"
"""A script that sends a form."""


def filled(page: Page, selector: str) -> list[str]:
    """Returns the address and the content of a form, as the browser would send them."""
    form: list[str] = page.script(
        "const form = document.querySelector(arguments[0]);"
        "return [form.action, new URLSearchParams(new FormData(form)).toString()]",
        selector,
    )
    return form


def judge(page: Page, name: str) -> None:
    """Checks that a page is accessible and no wider than the screen."""
    expect(f"the faults that axe finds in {name}", page.faults(), [])
    wide = page.script("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
    expect(f"the pixels by which {name} is wider than the screen", max(0, wide), 0)


def merchant(world: World) -> None:
    """A merchant views the earnings, refunds a payment once, even if the form is sent twice, and
    logs out. The old cookies then give no access."""
    shop = world.shop()
    for amount, memo in ((1_280, "Flat white"), (450, "=1+1"), (2_000, "Cake")):
        shop.pay_new_request(amount, memo=memo)
    page = login(world, shop, MERCHANT)
    page.wait_for_text("$37.30")
    judge(page, "earnings")
    world.figures["earnings_bytes"] = world.chromium.loaded(shop.url)
    page.leave("table.list tbody tr:first-child a")
    page.wait_for_text("$20.00")
    judge(page, "a payment")
    address, form = filled(page, "#refund form")
    page.leave("#refund button")
    page.wait_for_text("Refunded")
    judge(page, "a refund")
    expect("the status of the same form sent again", page.run_async(POST, address, form), 200)
    expect("the payer's balance after the refund", shop.payer.balance(), OPENING_BALANCE - 3_730 + 2_000)
    stolen = form.replace("form_token=", "form_token=A")
    expect("the status of a form with another token", page.run_async(POST, address, stolen), 403)
    expect("the payer's balance after the refused form", shop.payer.balance(), OPENING_BALANCE - 3_730 + 2_000)

    # The sum in the file equals the sum on the page.
    page.open(f"{shop.url}/web/earnings?period=today")
    page.wait_for_text("$17.30")
    text = page.run_async("return await (await fetch(document.querySelector('a[href*=\".csv\"]').href)).text()")
    lines = list(csv.DictReader(io.StringIO(text)))
    expect("the sum in the CSV file", sum(int(line["amount_cents"]) for line in lines), 1_730)
    formulas = [cell for line in lines for cell in line.values() if cell[:1] in ("=", "@")]
    expect("cells that a spreadsheet would run as formulas", formulas, [])

    cookies = page.driver.get_cookies()
    page.leave("form[action$='/web/logout'] button")
    for cookie in cookies:
        page.driver.add_cookie({"name": cookie["name"], "value": cookie["value"]})
    page.open(f"{shop.url}/web/earnings")
    page.wait("the login page after the logout", lambda page: "/web/login" in page.driver.current_url)
    world.expected_complaints = ("status of 403",)


def strangers(world: World) -> None:
    """Another merchant's payment is not found, and a user without a login gets the login page."""
    shop = world.shop()
    sold = shop.pay_new_request(500)
    page = world.page(f"{shop.url}/web/earnings")
    page.wait("the login page", lambda page: "/web/login" in page.driver.current_url)
    judge(page, "the login")
    enter(page, "other@example.com")
    page.wait_for_text("Earnings")
    page.open(f"{shop.url}/web/payments/{sold['id']}")
    page.wait_for_text("no such payment")
    if "$5.00" in page.text():
        raise AssertionError("another merchant's payment is shown")
    world.expected_complaints = ("status of 404",)


def scriptless(world: World) -> None:
    """A merchant can log in, view the earnings and refund a payment without scripts."""
    shop = world.shop()
    shop.pay_new_request(700)
    page = world.page("about:blank")
    page.protocol("Emulation.setScriptExecutionDisabled", value=True)
    page.open(f"{shop.url}/web")
    page.find("input[name=email]").send_keys(MERCHANT)
    page.find("main button").click()
    page.wait("the page of the earnings", lambda page: "$7.00" in page.find("body").text)
    page.find("table.list tbody a").click()
    page.wait("the page of the payment", lambda page: page.all("#refund button"))
    page.find("#refund button").click()
    eventually("the payer to get the refund", lambda: shop.payer.balance() == OPENING_BALANCE)
    page.protocol("Emulation.setScriptExecutionDisabled", value=False)


def paging(world: World) -> None:
    """The pages of the payments' list neither repeat nor skip a payment while new payments are
    made."""
    shop = world.shop()
    payee = shop.login(MERCHANT)
    known = {shop.pay_at_server(payee, f"early-{number}") for number in range(60)}
    page = login(world, shop, MERCHANT)
    page.wait_for_text("$60.00")
    found: list[str] = []
    for number in range(10):
        links = page.all("table.list tbody a")
        found += [str(link.get_attribute("href")).rpartition("/")[2] for link in links]
        if not page.all("#list .more a"):
            break
        for again in range(5):
            shop.pay_at_server(payee, f"late-{number}-{again}")
        page.leave("#list .more a")
    expect("the number of repeated payments", len(found) - len(set(found)), 0)
    expect("the skipped payments", known - set(found), set())


def manage(world: World) -> None:
    """The pages of a merchant's devices and webhooks are accessible, on a phone too."""
    shop = world.shop()
    receiver = Origin({})
    try:
        shop.server_command("webhooks", "add", f"{receiver.url}/hook", "--dev", "--payee", MERCHANT)
        page = login(world, shop, MERCHANT, path="/web/webhooks")
        page.wait_for_text("Everything has arrived")
        judge(page, "a webhook")
        shop.pay_new_request(300)
        page.wait("the row of the waiting event", lambda page: page.open(f"{shop.url}/web/webhooks").all("tbody tr"))
        judge(page, "an event that waits")
        page.open(f"{shop.url}/web/devices")
        judge(page, "the page without a device")
        page.find("input[name=name]").send_keys("Front till")
        page.leave("form[action$='/web/devices'] button")
        page.wait_for_text("It is shown only now")
        judge(page, "a device's code")
        page.open(f"{shop.url}/web/devices")
        page.wait_for_text("Waits for its code")
        judge(page, "a device")
        expect("the number of devices in the menu", page.text("nav .count"), "1")
        page.leave("a[href$='/revoke']")
        page.wait_for_text("Revoke Front till?")
        judge(page, "the question before a device is revoked")
        page.leave("form[action$='/revoke'] button")
        page.wait_for_text("Revoked")
        expect("the number of devices in the menu after the revocation", page.text("nav .count"), "")
        judge(page, "a device that was revoked")
        page.resize(*PHONE)
        for path in ("earnings", "earnings?period=all", "devices", "webhooks", "wallet"):
            judge(page.open(f"{shop.url}/web/{path}"), f"{path} on a phone")
        for path in ("earnings?from=2026-02-30&to=2026-03-01", "nowhere", "payments/none"):
            judge(page.open(f"{shop.url}/web/{path}"), path)
    finally:
        receiver.close()
    world.expected_complaints = ("status of 404", "status of 400")


def database(world: World) -> None:
    """While the database hangs, a page shows no sum. It recovers by itself when the database
    answers."""
    if world.postgres is None:
        raise AssertionError("the story needs the Swift test's database: --postgres URL")
    shop = world.closed_shop()
    shop.database = world.postgres
    shop.open()
    shop.pay_new_request(1_280)
    page = login(world, shop, MERCHANT)
    page.wait_for_text("$12.80")
    cluster = Path(world.postgres.rpartition("host=")[2]).parent
    signal_all(cluster, signal.SIGSTOP)
    try:
        for path in ("web/wallet", "web/earnings"):
            page.open(f"{shop.url}/{path}")
            page.wait_for_text("The books cannot be reached")
            expect(f"{path} shows a sum without a database", "$" in page.text(), False)
            judge(page, f"{path} without a database")
    finally:
        signal_all(cluster, signal.SIGCONT)
    page.wait_for_text("$12.80")
    world.expected_complaints = ("status of 503",)


def signal_all(cluster: Path, number: signal.Signals) -> None:
    """Sends a signal to all processes of a PostgreSQL server."""
    postmaster = int((cluster / "data/postmaster.pid").read_text().split()[0])
    children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
    for process in [postmaster, *map(int, children)]:
        os.kill(process, number)


def markup(world: World) -> None:
    """A memo stays text on the pages of the merchant and the payer. A refund of an impossible
    amount is refused on the page."""
    shop = world.shop()
    memo = '<img src=x onerror="document.title=1"> \u05e9\u05dc\u05d5\u05dd ' + "W" * 90
    sold = shop.pay_new_request(640, memo=memo)
    open_one = shop.kiosk.request(650, memo=memo)
    page = login(world, shop, MERCHANT, size=PHONE)
    for path in ("web/earnings", f"web/payments/{sold['id']}", f"p/{open_one['eid']}"):
        page.open(f"{shop.url}/{path}")
        page.wait_for_text("onerror")
        expect(f"the number of images made from the memo in {path}", len(page.all("main img")), 0)
        judge(page, f"a long memo in {path}")
    page.open(f"{shop.url}/web/payments/{sold['id']}")
    for amount in ("7.00", "much"):
        page.find("#refund input[name=amount]").clear()
        page.find("#refund input[name=amount]").send_keys(amount)
        page.leave("#refund button")
        page.wait_for_text("Nothing was refunded")
        judge(page, f"a refund of {amount}")
    expect("the payer's balance after the refused refunds", shop.payer.balance(), OPENING_BALANCE - 640)
    world.expected_complaints = ("status of 4",)
