"""Both controllers stop answering for seconds, as cheap adapters do, and then go on.

Without our recovery, there would be no scan for 10 more seconds, or for ever.
"""

from __future__ import annotations

import threading
from time import monotonic, sleep

from ..deadline import eventually
from ..http import Refused
from ..recovery import (
    AMOUNT,
    LIMIT,
    Till,
    allow_power_cycle,
    begin_fresh_scans,
    has_heard,
    problems,
)
from ..scenario import TAP, World

PROBE = "a1b2c3d4e5"
STRANGER = f'probe | C4:11:22:33:44:05 random | nonconnectable | 100 | -40 | 03:edfe 16:edfe+"{PROBE}"'

CYCLE = 10.24
"""Seconds after which the kernel ends a scan."""

CANDIDATE = 5.0
"""Seconds after a device was heard during which the daemon restarts its scan for new samples."""

FROZEN = 5.0
"""Seconds for which the controllers do not answer."""

START_LIMIT = 9.0
"""The limit of the recovery, in seconds. bluetoothd itself would retry only after 10 s."""


def run(world: World) -> None:
    allow_power_cycle(world)
    # Debian starts bluetoothd with this flag only.
    world.platform.restart_bluetoothd("--nodetach")
    try:
        world.start(world.kiosk, world.payer)
        till = Till(world, world.kiosk)
        at_a_start(world, till, "hiccup_at_a_start", 3.0)
        # Here, the lost start of the scan is not noticed, because reports resume before the second
        # reading of the counts.
        at_a_start(world, till, "hiccup_unseen", 1.5)
        beside_a_payer(world, till)
        till.withdraw()
    finally:
        world.platform.restart_bluetoothd()


def at_a_start(world: World, till: Till, name: str, remaining: float) -> None:
    """Hangs the controllers at the end of a scan cycle. The start of the next scan is lost, and
    bluetoothd alone would retry after 10 s.

    A payment is requested meanwhile, and its EID is advertised after the hang. The hang ends
    `remaining` seconds after the end of the cycle.
    """
    world.set_levels(None)
    sleep(CANDIDATE + 1)
    begin_fresh_scans(world, world.kiosk, world.payer)
    sleep(CYCLE + remaining - FROZEN)
    answers: list[object] = []

    def ask() -> None:
        try:
            answers.append(world.kiosk.request(AMOUNT))
        except Refused as refused:
            answers.append(refused)

    asking = threading.Thread(target=ask)
    world.air.do("freeze", controller="*")
    asking.start()
    end = monotonic() + FROZEN
    till.expect_problem("bluetooth-adapter-not-answering")
    sleep(max(0.0, end - monotonic()))
    thaw(world, till, name, START_LIMIT)
    asking.join()
    if not isinstance(answers[0], dict):
        raise AssertionError(f"the request during the hang was refused: {answers[0]}")
    world.kiosk.client.call("DELETE", f"/v1/requests/{answers[0]['id']}")
    count = world.kiosk.metric('gotchu_scan_restarts_total{rung="refilter"}')
    if count < 1:
        raise AssertionError(f"the kiosk's count of refilters: {count}, and not at least 1")


def beside_a_payer(world: World, till: Till) -> None:
    """Hangs the payer's controller while the daemon restarts its scan for new samples. The kernel
    would wait for ever for the lost command, so the daemon cycles the adapter's power."""
    eventually(
        "the payer to hear the till", lambda: has_heard(world.payer, till.eid, monotonic() - 1)
    )
    world.air.do("freeze", controller="c1")
    eventually(
        "the payer to report that its adapter does not answer",
        lambda: "bluetooth-adapter-not-answering" in problems(world.payer),
    )
    thaw(world, till, "hiccup_beside_a_payer", LIMIT)
    count = world.payer.metric('gotchu_scan_restarts_total{rung="power-cycle"}')
    if count < 1:
        raise AssertionError(f"the payer's count of power cycles: {count}, and not at least 1")


def thaw(world: World, till: Till, name: str, limit: float) -> None:
    """Ends the hang, and measures the time until the till's request is on the air, the payer hears
    the till, and the till hears a new stranger."""
    world.air.do("thaw", controller="*")
    ended = monotonic()
    world.set_levels(TAP)
    world.air.add(STRANGER)
    till.measure(
        name,
        ended,
        limit,
        heard=lambda: has_heard(world.payer, till.eid, ended),
        hears=lambda: has_heard(world.kiosk, PROBE, ended),
    )
    world.air.remove("probe")
