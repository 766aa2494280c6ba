"""Deposits and withdrawals on the pages, with the mint of a development server or with the payment
provider's pages."""

from __future__ import annotations

import sys
from pathlib import Path

from guest.http import Client
from guest.process import Process

from ..chromium import Page
from ..deadline import eventually, expect
from ..shop import OPENING_BALANCE, Shop
from ..world import World
from .pay import balance
from .web import MERCHANT, PHONE, POST, enter, filled, judge, login

SAVER = "saver@example.com"


def type_amount(page: Page, panel: str, amount: str) -> None:
    """Types an amount into a panel's form, and sends the form."""
    page.find(f"{panel} input[name=amount]").clear()
    page.find(f"{panel} input[name=amount]").send_keys(amount)
    page.leave(f"{panel} button")


def deposit(world: World) -> None:
    """A user deposits money once, even if the form is sent again. An amount outside the limits, or
    a text that is no amount, deposits nothing."""
    shop = world.shop()
    page = login(world, shop, SAVER, PHONE, "/web/wallet")
    page.wait_for_text("$1.00 to $500.00 at a time")
    judge(page, "a wallet that can be filled")
    page.find("#add input[name=amount]").send_keys("20.50")
    address, form = filled(page, "#add form")
    page.leave("#add button")
    page.wait_for_text("Added: the money is in your wallet.")
    page.wait_for_text("$120.50")
    judge(page, "a wallet with a deposit")
    expect("the status of the same form sent again", page.run_async(POST, address, form), 200)
    expect("the wallet's balance after the deposit", balance(shop, SAVER), OPENING_BALANCE + 2_050)
    for amount, words in (
        ("500.01", "more than this wallet may take"),
        ("0.99", "must be one such as"),
        ("oranges", "must be one such as"),
    ):
        type_amount(page, "#add", amount)
        page.wait_for_text(words)
        judge(page, f"a deposit of {amount}")
    expect("the wallet's balance after the refused deposits", balance(shop, SAVER), OPENING_BALANCE + 2_050)
    stolen = form.replace("form_token=", "form_token=A")
    expect("the status of a form with another token", page.run_async(POST, address, stolen), 403)
    page.open(f"{shop.url}/payments/done")
    page.wait_for_text("You are back from the payment page")
    world.chromium.forget_cookies()
    for path in ("payments/done", "payments/cancelled", "connect/return"):
        page.open(f"{shop.url}/{path}")
        page.wait_for_text("Go on here")
        judge(page, f"{path} without a login")
    world.expected_complaints = ("status of 403",)


def withdrawal(world: World) -> None:
    """A merchant withdraws earnings once, after a separate login for payouts and a confirmation."""
    shop = world.shop()
    shop.pay_new_request(1_280)
    page = login(world, shop, MERCHANT)
    page.wait_for_text("Pending: in the wallet")
    judge(page, "earnings with their parts")
    page.leave("nav a[href='/web/payouts']")
    page.wait_for_text("with a login for payouts only")
    enter(page, MERCHANT)
    page.wait_for_text("Active")
    judge(page, "payouts")
    # The click opens the provider's pages, which lead back.
    page.leave("#status button")
    page.wait_for_text("You are back from the provider's pages")
    type_amount(page, "#withdraw", "some")
    page.wait_for_text("Nothing was taken")
    type_amount(page, "#withdraw", "12.00")
    page.wait_for_text("Withdraw $12.00 to your bank?")
    judge(page, "the question before a withdrawal")
    expect("the wallet's balance before the confirmation", balance(shop, MERCHANT), OPENING_BALANCE + 1_280)
    address, form = filled(page, "main form")
    page.leave("main form button")
    page.wait_for_text("Taken from the wallet")
    page.wait_for_text("Paid", "#withdrawals")
    judge(page, "a withdrawal")
    expect("the status of the same form sent again", page.run_async(POST, address, form), 200)
    expect("the wallet's balance after the withdrawal", balance(shop, MERCHANT), OPENING_BALANCE + 80)
    page.resize(*PHONE)
    judge(page.open(f"{shop.url}/web/payouts"), "payouts on a phone")
    type_amount(page, "#withdraw", "100.81")
    page.leave("main form button")
    page.wait_for_text("The wallet has $100.80. Nothing was taken.")
    judge(page, "a withdrawal of too much")
    page.open(f"{shop.url}/web/earnings")
    page.wait_for_text("Paid to the bank, or spent")
    world.expected_complaints = ("status of 402",)


def provider(world: World) -> None:
    """A user pays a deposit and a merchant sets up payouts on the provider's pages, and both come
    back to our pages."""
    stripe = StandIn(world)
    try:
        shop = world.closed_shop()
        key = shop.folder / "stripe-key"
        key.touch(0o600)
        key.write_text("sk_test_" + "standin\n")
        shop.server_flags = ["--stripe-key-file", str(key), "--stripe-api", stripe.url]
        world.foreign = (f"{stripe.url}/",)
        shop.open()
        page = login(world, shop, SAVER, PHONE, "/web/wallet")
        type_amount(page, "#add", "20")
        page.wait_for_text("Pay $20.00")
        page.open(f"{shop.url}/payments/cancelled")
        page.wait_for_text("Waiting for payment")
        judge(page, "a deposit that is not paid yet")
        # The user opens the same deposit again, and pays it.
        page.leave("#deposits button.plain")
        page.wait_for_text("Pay $20.00")
        page.leave("button")
        page.wait("the return to the wallet's page", lambda page: page.driver.current_url == f"{shop.url}/web/wallet")
        page.wait_for_text("$120.00")
        page.wait_for_text("Added", "#deposits")
        judge(page, "a deposit that was paid")
        type_amount(page, "#add", "7")
        page.wait_for_text("Pay $7.00")
        page.open(f"{shop.url}/web/wallet")
        page.leave("#deposits button.danger")
        page.wait_for_text("Cancelled. Nothing was charged.")
        expect("the wallet's balance after the cancelled deposit", balance(shop, SAVER), OPENING_BALANCE + 2_000)
        onboard(world, shop)
    finally:
        stripe.close()
    world.expected_complaints = ("status of 404",)


def onboard(world: World, shop: Shop) -> None:
    """A merchant whose payouts are not set up goes to the provider's pages and comes back
    active."""
    page = login(world, shop, MERCHANT, path="/web/payouts")
    page.wait_for_text("Not set up")
    judge(page, "payouts that are not set up")
    page.leave("#status button")
    page.wait_for_text("Agree and submit")
    page.leave("button")
    page.wait_for_text("You are back from the provider's pages")
    page.wait("the payouts to be active", lambda page: "Active" in page.open(f"{shop.url}/web/payouts").text())
    judge(page, "payouts of an active merchant")
    page.wait_for_text("Change the bank account")
    page.leave("#status button")
    page.wait_for_text("Your account at the provider")


class StandIn:
    """A process with the tests' stand-in for Stripe."""

    def __init__(self, world: World) -> None:
        script = Path(__file__).parents[3] / "Python/stripe_stand_in.py"
        world.folder.mkdir(parents=True, exist_ok=True)
        self._process = Process("stripe", [sys.executable, "-B", str(script)], world.folder / "stripe.log")

        def port() -> str:
            return self._process.output().partition("port ")[2].partition("\n")[0]

        address = f"127.0.0.1:{eventually('the stand-in to listen', port)}"
        self.url = f"http://{address}"
        self._client = Client(address)

    def close(self) -> None:
        """Ends the stand-in. Fails if a call did not follow Stripe's API description."""
        try:
            state = self._client.post("/_control", {"do": "state"})
            expect("the calls that break Stripe's API description", state["violations"], [])
        finally:
            self._process.kill()
