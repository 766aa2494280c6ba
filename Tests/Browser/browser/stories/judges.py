"""Tests that the checks of the other stories find planted faults."""

from __future__ import annotations

from ..deadline import expect
from ..origin import Origin
from ..world import World

FAULTY = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Faulty</title>
<main><h1>Faulty</h1><p style="color: #bbb; background: #fff">Faint</p><input></main></html>"""

SOUND = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Sound</title>
<main><h1>Sound</h1><p>Black on white.</p></main></html>"""


def judges(world: World) -> None:
    """axe finds a faint text and a field without a name, and nothing in a sound page. A page's
    requests and console errors are recorded."""
    origin = Origin({"/faulty": FAULTY, "/sound": SOUND})
    world.foreign = (origin.url,)
    try:
        page = world.page(f"{origin.url}/faulty")
        found = {fault.split()[0] for fault in page.faults()}
        expect("the planted faults that axe finds", found & {"color-contrast", "label"}, {"color-contrast", "label"})
        page.open(f"{origin.url}/sound")
        expect("the faults that axe finds in a sound page", page.faults(), [])
        asked = {address.removeprefix(origin.url) for address in world.chromium.requested_urls()}
        expect("the recorded requests", asked & {"/faulty", "/sound"}, {"/faulty", "/sound"})
        page.script("setTimeout(() => { throw new Error('planted') }, 0)")
        page.wait("the record of the planted error", lambda _: "planted" in str(world.chromium.complaints()))
    finally:
        origin.close()
