"""Contests on the pages: users enter, and the organiser runs the contest. A contest's texts are
shown as text, even if they contain markup."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from typing import Any

from guest.http import Client

from ..chromium import Page
from ..deadline import eventually, expect
from ..shop import OPENING_BALANCE, Shop
from ..world import World
from .pay import balance
from .web import PHONE, POST, enter, filled, judge, login

HOST = "host@example.com"
RUNNER = "runner@example.com"
TITLE = "<script>document.title='stolen'</script> & friends"

TEMPLATE = {
    "id": "0199aaaa-0000-7000-8000-000000000001",
    "type": "pit_stops",
    "badge": "PIT STOPS",
    "color": "#123456",
    "icon": "flag",
    "heroImage": "/contest-assets/none.svg",
    "scoring": {"by": "entry", "wins": "low", "format": "Fewest seconds win", "tieBreaks": []},
    "columns": [
        {"key": "rank", "label": "#", "type": "number", "shows": "rank"},
        {"key": "crew", "label": "Crew", "type": "string", "shows": "name"},
        {"key": "time", "label": "Time", "type": "duration_ms", "shows": "points", "isRight": True},
        {"key": "prize", "label": "Prize", "type": "currency", "shows": "prize", "isRight": True},
    ],
    "sections": [
        {
            "type": "wheel_guns",
            "title": "Wheel <guns>",
            "rows": [{"label": "Torque", "value": "<b>1,000</b> Nm"}, {"label": "Spares", "value": "2"}],
        }
    ],
}


def arena(world: World) -> Shop:
    """Starts a shop with contests."""
    shop = world.closed_shop()
    shop.server_flags = ["--contests"]
    return shop.open()


def made(shop: Shop, template: str, title: str, **terms: Any) -> str:
    """Creates and publishes a contest by calls to the server. Returns its id."""
    host = shop.login(HOST)
    soon = (datetime.now(timezone.utc) + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    new = {
        "template_id": template, "title": title, "description": "For all.", "currency": "usd",
        "entry_fee_cents": 500, "starts_at": soon, "locks_at": soon,
        "tiers": [{"rank_min": 1, "rank_max": 1, "share_bps": 10_000}],
    } | terms  # fmt: skip
    name: str = host.post("/api/contests", new, Idempotency_Key=f"browser-make-{title[-20:]}")["id"]
    host.post(f"/api/contests/{name}/publish", {}, Idempotency_Key=f"browser-publish-{name}")
    return name


def fill(page: Page, **values: str) -> None:
    """Sets fields of the form for a new contest."""
    for name, value in values.items():
        page.script(
            "document.querySelector('#new [name=' + arguments[0] + ']').value = arguments[1]", name, value
        )


def contest(world: World) -> None:
    """A contest of a new type is created, entered, scored, objected to and completed in the
    browser. Markup in its texts stays text."""
    shop = arena(world)
    file = shop.folder / "template.json"
    file.write_text(json.dumps(TEMPLATE))
    shop.server_command("contests", "template-add", str(file))
    page = login(world, shop, HOST, path="/web/contests")
    page.wait_for_text("No contest yet")
    judge(page, "the form for a contest")
    later = (datetime.now() + timedelta(days=1)).strftime("%Y-%m-%dT18:00")
    fill(
        page, template=str(TEMPLATE["id"]), title=TITLE, description="Bring <i>gloves</i>.", fee="5",
        locks=later, starts=later, tiers="1 60\n2 41", rake="10", review="15",
    )  # fmt: skip
    page.leave("#new button")
    page.wait_for_text("must be 100 % together")
    judge(page, "the form with impossible terms")
    fill(page, tiers="1 60\n2 40")
    page.leave("#new button")
    page.wait_for_text("The draft is made")
    judge(page, "a draft")
    own = page.driver.current_url
    public = own.replace("/web/contests/", "/contests/")
    page.leave("form[action$='/publish'] button")
    page.wait_for_text("0 of 10000 in")
    judge(page, "an open contest")

    for runner in (RUNNER, "second@example.com"):
        joined(world, shop, public, runner)
    expect("the entrant's balance after the entry", balance(shop, RUNNER), OPENING_BALANCE - 500)

    page = login(world, shop, HOST, path="/web/contests")
    page.leave("main table a")
    page.leave("form[action$='/lock'] button")
    page.wait_for_text("Done.")
    page.find("input[name='score.1']").send_keys("2310")
    page.find("input[name='score.2']").send_keys("2304")
    judge(page, "a table of scores")
    page.leave("#scores button")
    page.wait_for_text("The scores are entered")
    page.wait_for_text("$5.40", "#prizes")
    # The organiser pastes a correction.
    page.find("textarea[name=csv]").send_keys("entry_number,points\n1,2290\n")
    page.leave("form:has(textarea) button")
    page.wait_for_text("revision 2")
    judge(page, "the prizes before they are paid")
    page.leave("form[action$='/complete'] button")
    page.wait_for_text("The prizes are paid at 20")
    expect("the number of forms that pay before the review is over", len(page.all("form[action$='/settle']")), 0)
    world.chromium.forget_cookies()
    page = world.page(public, *PHONE)
    page.leave(".head a[href^='/web/login']")
    enter(page, RUNNER)
    page.wait_for_text("Results are being checked")
    page.find("form[action$='/object'] input[name=text]").send_keys("A <wheel> was loose.")
    judge(page, "a result that can be objected to")
    page.leave("form[action$='/object'] button")
    page = login(world, shop, HOST, path=own.removeprefix(shop.url))
    page.wait_for_text("A <wheel> was loose.", "#objections")
    page.find("form[action$='/dispute'] input[name=reason]").send_keys("A wheel was loose.")
    page.leave("form[action$='/dispute'] button")
    page.wait_for_text("A wheel was loose.")
    judge(page, "a disputed contest")
    page.leave("form[action$='/complete'] button")
    page.wait_for_text("The prizes are paid at 20")
    paid(world, shop)
    world.expected_complaints = ("status of 400", "status of 409")


def paid(world: World, shop: Shop) -> None:
    """A contest without a review pays the prizes at once, and its page shows each prize."""
    host, runners = shop.login(HOST), (RUNNER, "second@example.com")
    before = {email: balance(shop, email) for email in (HOST, *runners)}
    tiers = [{"rank_min": rank, "rank_max": rank, "share_bps": share} for rank, share in ((1, 6_000), (2, 4_000))]
    name = made(shop, str(TEMPLATE["id"]), "Relay", tiers=tiers, rake_bps=1_000, settle_after_seconds=0)

    def post(client: Client, call: str, body: dict[str, Any]) -> None:
        client.post(f"/api/contests/{name}/{call}", body, Idempotency_Key=f"browser-{call}-{name}")

    for email in runners:
        post(shop.login(email), "join", {"entry_fee_cents": 500})
    post(host, "lock", {})
    scores = [{"entry_number": number, "points": points} for number, points in ((1, 2_290), (2, 2_304))]
    post(host, "scores", {"base_revision": 0, "scores": scores})
    post(host, "complete", {"revision": 1})
    eventually("the server to pay the prizes", lambda: host.get(f"/api/contests/{name}")["state"] == "PAID")
    page = login(world, shop, HOST, path=f"/web/contests/{name}")
    page.wait_for_text("Paid")
    judge(page, "a contest that was paid")
    # The organiser keeps $1.00 of $10.00. The prizes are 60 and 40 percent of the rest.
    for email, gain in ((RUNNER, 540 - 500), ("second@example.com", 360 - 500), (HOST, 100)):
        expect(f"the balance of {email} after the prizes", balance(shop, email), before[email] + gain)
    page.open(f"{shop.url}/contests/{name}")
    page.wait_for_text("0:02.290", "#results")
    page.wait_for_text("$5.40", "#results")
    judge(page, "the results")


def joined(world: World, shop: Shop, public: str, email: str) -> None:
    """A user finds the contest, logs in, and enters it. The same form sent twice enters only
    once."""
    world.chromium.forget_cookies()
    page = world.page(f"{shop.url}/contests", *PHONE)
    judge(page, "the list of contests")
    page.leave("main table a")
    page.wait("the page of the contest", lambda page: page.driver.current_url == public)
    expect("the number of scripts made from the contest's texts", len(page.all("main script")), 0)
    expect("the contest's title on the page", page.text("h1"), TITLE)
    page.wait_for_text("<b>1,000</b> Nm")
    page.wait_for_text("Wheel <guns>")
    page.wait_for_text("Bring <i>gloves</i>.")
    judge(page, "a contest for anybody")
    page.leave("#actions a.main")
    enter(page, email)
    page.wait_for_text("Pay $5.00 from your wallet?")
    judge(page, "a contest that can be entered")
    address, form = filled(page, "form[action$='/join']")
    page.leave("form[action$='/join'] button")
    page.wait_for_text("You are in: entry")
    judge(page, "a contest that was entered")
    expect("the status of the same form sent again", page.run_async(POST, address, form), 200)
    expect("the window's title", page.driver.title, f"{TITLE} · gotchu")


def roster(world: World) -> None:
    """A user enters by an invitation without scripts, chooses a roster and leaves. The page is also
    shown in other languages."""
    shop = arena(world)
    name = made(shop, "01999f00-0000-7000-8000-000000000003", "Lanes", is_invite_only=True)
    public = f"{shop.url}/contests/{name}"
    page = world.page(public)
    page.wait_for_text("There is nothing here")
    token = shop.login(HOST).get(f"/api/contests/{name}")["join_token"]
    link = f"{public}?join_token={token}"
    page.open(link)
    page.wait_for_text("Lanes")
    page.protocol("Emulation.setScriptExecutionDisabled", value=True)
    page.find("#actions a.main").click()
    page.wait("the login page", lambda page: page.all("input[name=email]"))
    page.find("input[name=email]").send_keys(RUNNER)
    page.find("main button").click()
    page.wait("the button to join", lambda page: page.all("form[action$='/join'] button"))
    page.find("form[action$='/join'] button").click()
    page.wait("the page after the entry", lambda page: "You are in" in page.find("main").text)
    page.protocol("Emulation.setScriptExecutionDisabled", value=False)
    page.open(public)
    expect("the invitation's link on the page", page.text("main code"), link)
    choose(page, 1, 1, 2)
    page.leave("form[action$='/roster'] button")
    page.wait_for_text("in the roster twice")
    judge(page, "the page with an impossible roster")
    choose(page, 1, 2, 3)
    page.leave("form[action$='/roster'] button")
    page.wait_for_text("costs 120, and may cost 100")
    choose(page, 3, 4, 5)
    page.leave("form[action$='/roster'] button")
    entry = shop.login(RUNNER).get(f"/api/contests/{name}")["entry"]
    expect("the number of players in the roster", len(entry["roster"]), 3)
    judge(page, "a roster")
    for language, words in (("de", "Zurücktreten"), ("ar", "انسحب")):
        page.protocol("Network.setExtraHTTPHeaders", headers={"Accept-Language": language})
        page.open(public)
        page.wait_for_text(words)
        judge(page, f"a contest in {language}")
    page.protocol("Network.setExtraHTTPHeaders", headers={})
    page.open(link)
    page.leave("form[action$='/leave'] button")
    page.wait_for_text("Join for $5.00")
    expect("the entrant's balance after leaving", balance(shop, RUNNER), OPENING_BALANCE)
    cancel(world, shop, name)
    world.expected_complaints = ("status of 404", "status of 422")


def choose(page: Page, *players: int) -> None:
    """Chooses players by their positions in the lists. The other places stay empty."""
    for place in range(1, 4):
        index = players[place - 1] if place <= len(players) else 0
        page.script(
            "document.querySelector('[name=place-' + arguments[0] + ']').selectedIndex = arguments[1]",
            place,
            index,
        )


def cancel(world: World, shop: Shop, name: str) -> None:
    """The organiser cancels the contest on its page, with a reason."""
    page = login(world, shop, HOST, path=f"/web/contests/{name}")
    page.wait_for_text("Anyone with this link can enter")
    judge(page, "a private contest")
    page.find("form[action$='/cancel'] input[name=reason]").send_keys("Rain.")
    page.leave("form[action$='/cancel'] button")
    page.wait_for_text("Rain.")
    judge(page, "a cancelled contest")
