"""The display's page with scripted views, which the Swift test has written to a file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from selenium.common.exceptions import TimeoutException

from ..chromium import Page
from ..shop import Shop
from ..stage import Stage
from ..world import World

NOW = 1_795_874_520
"""A Saturday at 14:02 UTC, in seconds since 1970."""

FIXED = f"""
const at = {NOW}000, Real = Date;
globalThis.Date = class extends Real {{ constructor(...given) {{ given.length ? super(...given) : super(at) }}
  static now() {{ return at }} }};
performance.now = () => 1000;
"""
"""A script that sets the page's clock to NOW and stops it."""


SHOWN = """
const [state, parts] = arguments;
const isShown = () => document.body.dataset.state === state
  && parts.every(part => document.body.innerText.includes(part));
if (!isShown()) await new Promise(shown => new MutationObserver((_, watch) => {
  if (isShown()) { watch.disconnect(); shown(); }
}).observe(document.documentElement, { subtree: true, childList: true, characterData: true, attributes: true }));
"""
"""A script that waits until a state is shown with its words."""


class Staged:
    """The stage of a display's page, and the views for the page."""

    def __init__(self, world: World, stage: Stage, shop: Shop) -> None:
        if world.views_file is None:
            raise AssertionError("the story needs the views that the Swift test writes: --views FILE")
        build = shop.kiosk.client.get("/v1/display")["build"]
        self.stage = stage
        self.views: dict[tuple[str, str], str] = {}
        self.scenes: list[str] = []
        self.states: list[str] = []
        for line in Path(world.views_file).read_text().splitlines():
            each = json.loads(line)
            each["view"]["build"] = build
            self.views[each["scene"], each["state"]] = json.dumps(each["view"])
            self.scenes = [*dict.fromkeys([*self.scenes, each["scene"]])]
            self.states = [*dict.fromkeys([*self.states, each["state"]])]

    def show(self, page: Page, scene: str, name: str, look: str = "return null") -> Any:
        """Makes the page show a view, waits until it is shown, and returns the result of the script
        `look`."""
        view = json.loads(self.views[scene, name])
        self.stage.say(self.views[scene, name])
        parts = [part for part in (view["headline"], view.get("amount")) if part]
        try:
            return page.run_async(SHOWN + look, name, parts)
        except TimeoutException as late:
            raise AssertionError(f"{name} of {scene} is not shown; the page says: {page.text()[:300]!r}") from late


@contextmanager
def staged(world: World, **screens: Any) -> Iterator[Staged]:
    shop = world.shop(**screens)
    stage = Stage(shop)
    world.foreign += (stage.url.removesuffix("display"),)
    try:
        yield Staged(world, stage, shop)
    finally:
        world.close_pages()
        stage.close()


def still(world: World, url: str, width: int, height: int) -> Page:
    """Opens a page without motion and with a stopped clock."""
    return hold(world.page("about:blank", width, height, prefers_reduced_motion="reduce")).open(url)


def hold(page: Page) -> Page:
    """Stops the clock of all later pages in a window."""
    page.protocol("Emulation.setTimezoneOverride", timezoneId="UTC")
    page.protocol("Page.addScriptToEvaluateOnNewDocument", source=FIXED)
    return page
