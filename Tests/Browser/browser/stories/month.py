"""The pages of a shop after a month of sales, at a fixed time, as in the documents' pictures."""

from __future__ import annotations

import json
import random
from base64 import urlsafe_b64decode
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import time

from guest.http import Client

from ..chromium import Page
from ..deadline import eventually
from ..pictures import DOCUMENTS, GOLDENS, compare
from ..shop import Shop
from ..world import World
from .staged import NOW, hold, staged, still
from .pay import TRANSLATIONS, open_in_language
from .till import pair, rows
from .web import MERCHANT, PHONE, enter, login

DAYS, DAY = 24, 86_400
GOODS = {"Flat white": 450, "2 flat whites, 1 croissant": 1_280, "Soup": 620, "Cake": 480, "Bagel, tea": 890}

SAME_TIME = """
for (const time of document.querySelectorAll('time'))
  time.textContent = time.textContent.replace(/\\d\\d:\\d\\d$/, '14:02');
"""
"""A script that sets the same time for all sales, because today's sales may be in different
minutes."""


SAME_REQUEST = """
document.querySelector('.compare b').textContent = '3447';
const left = document.querySelector('.pay > .quiet');
left.textContent = left.textContent.replace(/\\d/, '5');
"""
"""A script that sets fixed digits and minutes, because the digits are random and the minutes
decrease."""


def month(world: World) -> None:
    """The display, till and earnings look like the documents' pictures, and the report and the
    payer's pages like their approved pictures."""
    with staged(world, shop="Corner Cafe") as play:
        page = still(world, play.stage.url, 1280, 800)
        for name in ("waiting", "paid"):
            play.show(page, "en", name)
            compare(page, DOCUMENTS / f"display-{name}.png", world.out)
    shop = world.closed_shop(shop="Corner Cafe")
    open_for_a_month(world, shop)
    for memo in ("Soup", "Cake", "2 flat whites, 1 croissant", "Bagel, tea"):
        sold = shop.pay_new_request(GOODS[memo], memo=memo)
    cancelled = shop.kiosk.request(450, memo="Flat white")
    shop.kiosk.client.call("DELETE", f"/v1/requests/{cancelled['id']}")
    shop.kiosk.client.post("/v1/refunds", {"sid": sold["id"], "amount_cents": sold["amount_cents"]})
    shop.kiosk.request(1_280, memo="2 flat whites, 1 croissant")
    counter = hold(world.page("about:blank")).open(shop.till)
    pair(shop, counter, "--refunds", "50.00/day")
    counter.wait("all six rows", lambda page: len(rows(page)) == 6 and "Refunded" in str(rows(page)))
    counter.type("620")
    look(world, counter, DOCUMENTS / "till.png")
    counter.press("F8")
    counter.wait_for_text("Kept", "#report")
    look(world, counter, GOLDENS / "report.png")
    page = login(world, shop, MERCHANT, path=f"/web/earnings?from={day(DAYS)}&to={day(0)}")
    page.wait_for_text("By day")
    look(world, page, DOCUMENTS / "earnings.png")
    page = login(world, shop, "payer@example.com", PHONE, "/web/wallet")
    page.wait_for_text("Balance")
    look(world, page, GOLDENS / "wallet.png")
    request = shop.kiosk.client.get("/v1/requests")["requests"][0]
    for language in TRANSLATIONS:
        page = open_in_language(world, language, f"{shop.url}/p/{request['eid']}")
        page.script(SAME_REQUEST)
        look(world, page, GOLDENS / f"request-{language}.png")
        page.leave("a.main")
        enter(page, "payer@example.com")
        page.wait("the button to pay", lambda page: page.all("form[action*='/p/'] button"))
        page.open(f"{shop.url}/web/wallet")
        look(world, page, GOLDENS / f"wallet-{language}.png")


def look(world: World, page: Page, golden: Path) -> None:
    page.script(SAME_TIME)
    compare(page, golden, world.out)


def day(ago: int) -> str:
    return (datetime.fromtimestamp(NOW, UTC).date() - timedelta(days=ago)).isoformat()


def open_for_a_month(world: World, shop: Shop) -> None:
    """Makes the sales of a month. The programs' clocks advance day by day, up to the time of the
    pictures."""
    if world.faults is None:
        raise AssertionError("the story needs the library that sets the programs' clocks: --faults LIBRARY")
    chance = random.Random(7)
    clock = shop.folder / "clock"

    def set_clock(ago: int) -> None:
        clock.write_text(str(int(NOW - ago * DAY - time())))

    set_clock(DAYS)
    shop.wrapper = ["env", "TZ=UTC", f"LD_PRELOAD={world.faults}", f"FAULT_CLOCK={clock}"]
    shop.start_server()
    for ago in range(DAYS, 0, -1):
        set_clock(ago)
        payee = eventually("a token of the server's new day", lambda: at_day(shop.login(MERCHANT), ago))
        for number in range(chance.randint(2, 7) + (3 if ago % 7 in (1, 2) else 0)):
            memo = chance.choice(list(GOODS))
            shop.pay_at_server(payee, f"guest-{ago}-{number}", GOODS[memo], memo)
    set_clock(0)
    eventually("a token of the server's last day", lambda: at_day(shop.login(MERCHANT), 0))
    shop.start_daemons()


def at_day(caller: Client, ago: int) -> Client | None:
    """Returns the client if its token was issued on this day, and otherwise None. The server's
    programs notice a changed clock only after a while."""
    claims = str(caller._token).split(".")[1]
    issued = json.loads(urlsafe_b64decode(claims + "=="))["iat"]
    return caller if abs(issued - (NOW - ago * DAY)) < DAY / 2 else None
