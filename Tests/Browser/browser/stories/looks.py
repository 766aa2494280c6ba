"""The appearance and behaviour of the display's page in all states, sizes and languages."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable
from pathlib import Path

from guest.http import Refused

from ..chromium import Page
from ..deadline import EFFORT, eventually, expect
from ..pictures import GOLDENS, IS_WRITING, compare
from ..shop import Shop
from ..stage import FEED
from ..world import World
from .display import wait_for
from .staged import Staged, staged, still

SIZES = [(800, 480), (1280, 800), (1080, 1920), (480, 800), (1920, 1080), (1024, 600), (1366, 768), (800, 1280)]
"""The window sizes. The first three are tested in every run, all with GOTCHU_TEST_EFFORT."""

MISFITS = """
return [...document.querySelectorAll('body *')].filter(e => {
  const box = e.getBoundingClientRect(), style = getComputedStyle(e);
  if (!box.width || !box.height || style.visibility === 'hidden' || e.closest('svg') && e.tagName !== 'svg') return false;
  if (e.children.length && e.tagName !== 'svg') return false;
  const isOut = box.left < -1 || box.top < -1 || box.right > innerWidth + 1 || box.bottom > innerHeight + 1;
  const isCut = style.textOverflow !== 'ellipsis' && style.webkitLineClamp === 'none'
    && style.overflow !== 'visible' && (e.scrollWidth > e.clientWidth + 2 || e.scrollHeight > e.clientHeight + 2);
  return isOut || isCut;
}).map(e => e.id || e.className.baseVal || e.className || e.tagName);
"""
"""A script that returns elements outside the window, or cut off without an ellipsis."""

TONES = """
window.tones = 0;
const start = OscillatorNode.prototype.start;
OscillatorNode.prototype.start = function (...given) { tones += 1; return start.apply(this, given) };
"""

HASTY = """
window.drawn = 0;
addEventListener('DOMContentLoaded', () => new MutationObserver(() => { drawn += 1 })
  .observe(document.body, { attributeFilter: ['data-state'] }));
const later = setTimeout;
globalThis.setTimeout = (act, wait, ...more) => later(act, wait === 1000 ? 5 : wait, ...more);
"""
"""A script that counts the states that the page draws, and makes the page reconnect at once. The
page draws only the newest of lines that arrive together."""

OVERLAPS = """
const boxes = [...document.querySelectorAll('.words > *, .scene > *')].filter(e => e.getClientRects().length
  && e.textContent.trim() && getComputedStyle(e).visibility !== 'hidden')
  .map(e => [e.id || e.className, e.getBoundingClientRect()]);
return boxes.flatMap(([a, p], i) => boxes.slice(i + 1).filter(([, q]) =>
  Math.min(p.right, q.right) - Math.max(p.left, q.left) > 2 && Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top) > 2)
  .map(([b]) => a + ' over ' + b));
"""


ASTRAY = """
if ('end' in document.body.dataset) return [];
const isRight = document.documentElement.dir === 'rtl', unit = Math.min(innerWidth, innerHeight) / 100;
const edge = (e) => {
  const range = document.createRange(), own = (e.closest('p') ?? e).getBoundingClientRect();
  range.selectNodeContents(e);
  return Math.min(...[...range.getClientRects()].map(box => isRight ? -Math.min(box.right, own.right) : Math.max(box.left, own.left)));
};
const lines = ['amount', 'memo', 'head', 'line', 'second'].map(id => document.getElementById(id))
  .filter(e => e.textContent && e.checkVisibility());
const first = Math.min(...lines.map(edge));
return lines.filter(e => edge(e) - first > 5 * unit).map(e => e.id);
"""
"""A script that returns the lines that do not begin at the common edge: left, or right in a
language that is written from the right."""

SCALE = "return Number(document.documentElement.style.getPropertyValue('--scale'))"

BASELINES = """
const pairs = [['#shop', '#clock'], ['#left-label', '#code-label']];
const base = (e) => {
  const mark = document.createElement('span');
  mark.style.display = 'inline-block';
  e.append(mark);
  const bottom = mark.getBoundingClientRect().bottom;
  mark.remove();
  return bottom;
};
return pairs.map(pair => pair.map(id => document.querySelector(id))).filter(pair => pair.every(e => e.checkVisibility() && e.textContent))
  .filter(([a, b]) => Math.abs(a.getBoundingClientRect().top - b.getBoundingClientRect().top) < 20)
  .filter(([a, b]) => Math.abs(base(a) - base(b)) > 1.5).map(([a, b]) => a.id + ' and ' + b.id);
"""
"""A script that returns pairs of texts side by side with different baselines."""

LAYOUT = "return {" + ", ".join(
    f"{fault}: (() => {{ {script} }})()"
    for fault, script in (
        ("misfits", MISFITS), ("overlaps", OVERLAPS), ("astray", ASTRAY), ("baselines", BASELINES)
    )
) + "}"  # fmt: skip
"""A script with all checks of the layout, because each call to the browser takes time."""


def faults(world: World) -> None:
    """axe finds no problem on the display, in any state of three scenes, and of all scenes with
    GOTCHU_TEST_EFFORT."""
    with staged(world) as play:
        page = still(world, play.stage.url, 1280, 800)
        for scene in play.scenes if EFFORT > 1 else ("en", "german-english", "ar"):
            for name in play.states:
                play.show(page, scene, name)
                expect(f"the faults that axe finds in {name} of {scene}", page.faults(), [])


def fit(world: World) -> None:
    """All texts of the display fit, do not overlap, and are aligned, in all states and languages, in
    three sizes, and in all sizes with GOTCHU_TEST_EFFORT."""
    world.figures["views"] = 0
    with staged(world) as play:
        for width, height in SIZES if EFFORT > 1 else SIZES[:3]:
            page = still(world, play.stage.url, width, height)
            for scene in play.scenes:
                look_at_all(world, play, page, scene, f"{scene} at {width}×{height}")


def enlarged(world: World) -> None:
    """Text with a configured scale of 1.6 is enlarged only as far as it fits."""
    world.figures["views"] = 0
    with staged(world, text_scale=1.6) as play:
        for width, height in SIZES if EFFORT > 1 else SIZES[:3]:
            page = still(world, play.stage.url, width, height)
            for scene in play.scenes if EFFORT > 1 else ("en", "german-english", "ar"):
                look_at_all(world, play, page, scene, f"{scene} at {width}×{height}, enlarged")
            for name, least in (("cancelled", 1.1), ("idle", 1)):
                play.show(page, "en", name)
                what = f"the text's scale is at least {least} in {name} at {width}×{height}"
                expect(what, page.script(SCALE) >= least, True)


def look_at_all(world: World, play: Staged, page: Page, scene: str, where: str) -> None:
    """Fails if a state of a scene has a fault of its layout."""
    for name in play.states:
        found = {fault: names for fault, names in play.show(page, scene, name, LAYOUT).items() if names}
        expect(f"the layout's faults in {name} of {where}", found, {})
        world.figures["views"] += 1


def pictures(world: World) -> None:
    """The display looks like its approved pictures, and a picture of another state differs."""
    with staged(world, shop="Corner Cafe") as play:

        def look(page: Page, scene: str, name: str) -> None:
            play.show(page, scene, name)
            size = page.script("return innerWidth + 'x' + innerHeight")
            compare(page, GOLDENS / f"{scene}-{name}-{size}.png", world.out)

        page = still(world, play.stage.url, 800, 480)
        for name in play.states:
            look(page, "en", name)
        for scene, name in (("ar", "waiting"), ("ar", "paid"), ("german-english", "waiting")):
            look(page, scene, name)
        look(still(world, play.stage.url, 480, 800), "arabic-english", "waiting")
        if IS_WRITING:
            return
        play.show(page, "en", "expired")
        try:
            compare(page, GOLDENS / "en-cancelled-800x480.png", world.out)
        except AssertionError:
            return
        raise AssertionError("a picture of another state passes as the right picture")


def listened(world: World, url: str) -> Page:
    """Opens the display, and counts its tones."""
    page = world.page("about:blank")
    page.protocol("Page.addScriptToEvaluateOnNewDocument", source=TONES)
    return page.open(url)


def motion(world: World) -> None:
    """Nothing moves in a browser that prefers reduced motion, or if the shop disables motion. With
    sound enabled, a payment plays two tones."""

    def moving(page: Page) -> int:
        return int(
            page.script("return document.getAnimations().filter(a => a.playState === 'running').length")
        )

    with staged(world) as play:
        page = listened(world, play.stage.url)
        play.show(page, "en", "waiting")
        page.wait("the waves to move", moving)
        play.show(page, "en", "paid")
        expect("the tones of a display without sound", page.script("return tones"), 0)
        page = world.page(play.stage.url, prefers_reduced_motion="reduce")
        play.show(page, "en", "waiting")
        expect("the number of motions in a browser that prefers none", moving(page), 0)
    with staged(world, motion=False, sound=True, antenna="left") as play:
        page = listened(world, play.stage.url)
        play.show(page, "en", "waiting")
        expect("the number of motions that the shop has disabled", moving(page), 0)
        turned = page.script("return getComputedStyle(document.querySelector('.picture')).rotate")
        expect("the picture's rotation", turned, "90deg")
        for name, tones in (("paid", 2), ("idle", 2), ("expired", 2)):
            play.show(page, "en", name)
            expect(f"the tones so far in {name}", page.script("return tones"), tones)


def soak(world: World) -> None:
    """Thousands of states and many new connections do not enlarge the page or gotchud."""
    states, connections = 500 * EFFORT, 20 * EFFORT
    with staged(world) as play:
        page = world.page("about:blank")
        page.protocol("Page.addScriptToEvaluateOnNewDocument", source=HASTY)
        page.open(play.stage.url)
        lines = [play.views[scene, name] for scene in ("en", "de") for name in play.states]

        def draw(count: int) -> None:
            until = page.script("return drawn") + count
            while page.script("return drawn") < until:
                play.stage.say(*lines, pause=0.001)

        def connect(count: int) -> None:
            asked = play.stage.requested_paths
            for _ in range(count):
                seen = asked.count(FEED)
                play.stage.hang_up()
                eventually("the page to connect again", lambda: asked.count(FEED) > seen and play.stage.readers)

        # Each state is shown once before the measurement, because elements of earlier states may
        # stay in the page, hidden.
        for name in play.states:
            play.show(page, "en", name)
        world.figures["states"] = states
        world.figures["heap_bytes"] = growth(play, page, lambda: draw(400), lambda: draw(states))
        world.figures["heap_bytes_of_connections"] = growth(
            play, page, lambda: connect(10), lambda: connect(connections)
        )
        shop = world.shops[0]
        reconnect(shop, connections)
        first = resident(shop)
        reconnect(shop, connections)
        world.figures["daemon_kilobytes"] = resident(shop) - first
        if resident(shop) - first > 1_024 + first // 20:
            raise AssertionError(f"gotchud grew from {first} to {resident(shop)} KiB")


def growth(play: Staged, page: Page, warm: Callable[[], None], work: Callable[[], None]) -> int:
    """Returns the growth of the page's heap by `work`. Fails if it is more than 1 MB, or if the
    number of nodes or listeners changes."""
    sizes = []
    for do in (warm, work):
        do()
        play.show(page, "en", "paid")
        play.show(page, "en", "idle")
        sizes.append(page.memory())
    before, after = sizes
    counts = [(size["nodes"], size["listeners"]) for size in sizes]
    expect("the numbers of nodes and listeners after the work", counts[1], counts[0])
    if after["heap"] - before["heap"] > 1_000_000:
        raise AssertionError(f"the heap grew from {before['heap']} to {after['heap']} bytes")
    return after["heap"] - before["heap"]


def reconnect(shop: Shop, count: int) -> None:
    """Connects readers one after another, each of which reads a line and disconnects."""
    for _ in range(count):
        connection = http.client.HTTPConnection("127.0.0.1", shop.display_port, timeout=20)
        connection.request("GET", "/v1/display/events")
        connection.getresponse().readline()
        connection.close()


def resident(shop: Shop) -> int:
    """Returns the resident memory of the kiosk's gotchud in KiB."""
    status = Path(f"/proc/{shop.kiosk.process.pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS:")).split()[1])


def upgrade(world: World) -> None:
    """A display reloads once when gotchud has another page, also after a restart of gotchud."""
    with staged(world) as play:
        page = world.page(play.stage.url)
        play.show(page, "en", "idle")
        page.script("window.isOld = true")
        view = json.loads(play.views["en", "idle"])
        play.stage.say(json.dumps(view | {"build": "another"}))
        page.wait("the page to reload", lambda page: page.script("return window.isOld === undefined"))
        eventually("the reload's request", lambda: play.stage.requested_paths.count("/display") >= 2)
        # The reloaded page is the old page again. It must not reload in a loop.
        loads = play.stage.requested_paths.count("/display")
        play.stage.say(play.views["en", "paid"])
        wait_for(page, "paid")
        if play.stage.requested_paths.count("/display") > loads + 2:
            raise AssertionError("the page reloads again and again")
    shop = world.shops[0]
    page = world.page(shop.display)
    wait_for(page, "idle")
    shop.kiosk.process.kill()
    shop.kiosk.settings["screens"]["text_scale"] = 1.2
    shop.kiosk.start()
    page.wait(
        "the restarted gotchud's page", lambda page: page.script("return document.body.dataset.scale") == "1.2"
    )
    wait_for(page, "idle")
    # The browser's console reports the broken connection.
    world.expected_complaints = ("net::ERR_",)


def policy(world: World) -> None:
    """A planted script does not run, nothing is loaded from other origins, and a memo stays
    text."""
    shop = world.shop()
    memo = '<img src=x onerror="document.title=1"> \u05e9\u05dc\u05d5\u05dd <script>document.title=2</script>'
    page = world.page(shop.display)
    wait_for(page, "idle")
    shop.kiosk.request(900, memo=memo)
    wait_for(page, "waiting")
    expect("the number of elements made from the memo", len(page.all("img, #memo *")), 0)
    if "onerror" not in page.text():
        raise AssertionError(f"the memo is not shown as it is: {page.text()!r}")
    expect("the display shows the amount beside the memo", "$9.00" in page.text(), True)
    try:
        shop.kiosk.request(900, memo="\u202e00.9$")
        raise AssertionError("a memo that reverses the text beside it is accepted")
    except Refused as refused:
        expect("the status of a memo that reverses text", refused.status, 400)
    expect("the elements outside the window with markup in the memo", page.script(MISFITS), [])
    shop.kiosk.request(901, memo="🧁" * 140)
    page.wait_for_text("$9.01")
    expect("the elements outside the window with a long memo", page.script(MISFITS), [])
    for attempt in (
        "document.body.innerHTML = '<b>planted</b>'",
        "const s = document.createElement('script'); s.text = 'window.planted = 1'; document.body.append(s)",
        "const s = document.createElement('script'); s.src = 'http://127.0.0.1:1/x.js'; document.body.append(s)",
        "document.body.setAttribute('onclick', 'window.planted = 1')",
    ):
        said = page.script(f"try {{ {attempt}; return 'taken' }} catch (error) {{ return error.name }}")
        expect(f"the error of {attempt}", said, "TypeError")
    page.script("const i = new Image(); i.src = 'http://127.0.0.1:1/x.png'")
    expect("the variable of a planted script", page.script("return window.planted ?? null"), None)
    # The browser reports the refusals in its console.
    world.expected_complaints = ("Content Security Policy", "TrustedScript", "TrustedHTML", "trusted-types")
    eventually("the browser to report a refusal", lambda: "Content Security Policy" in str(world.chromium.complaints()))
    world.foreign = ("http://127.0.0.1:1/",)
    world.figures["display_bytes"] = world.chromium.loaded(shop.display.removesuffix("display"))
