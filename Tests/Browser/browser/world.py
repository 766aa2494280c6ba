"""The environment of a story."""

from __future__ import annotations

import shutil
from argparse import Namespace
from pathlib import Path
from typing import Any

from .chromium import Chromium, Page
from .deadline import expect
from .shop import Shop


class World:
    """The environment of a story: a browser, and shops that are created on demand."""

    def __init__(self, name: str, chromium: Chromium, options: Namespace, folder: Path) -> None:
        self.name = name
        self.chromium = chromium
        self.programs: Path = options.programs.resolve()
        self.views_file: Path | None = options.views
        self.faults: Path | None = options.faults
        """The library that changes a program's clock."""
        self.postgres: str | None = options.postgres
        """The URL of the run's PostgreSQL database."""
        self.out: Path = options.out.resolve()
        self.folder = folder
        self.figures: dict[str, float] = {}
        self.expected_complaints: tuple[str, ...] = ()
        """Parts of console errors that are allowed in this story."""
        self.foreign: tuple[str, ...] = ()
        """The origins, in addition to the shops', that this story's pages may request."""
        self.shops: list[Shop] = []
        self._pages: list[Page] = []

    def shop(self, kiosk: dict[str, Any] | None = None, **screens: Any) -> Shop:
        """Returns a new shop whose programs run. `kiosk` has settings of its gotchud, `screens` of
        its screens."""
        return self.closed_shop(kiosk, **screens).open()

    def closed_shop(self, kiosk: dict[str, Any] | None = None, **screens: Any) -> Shop:
        """Returns a new shop whose programs do not run yet."""
        shop = Shop(self.programs, self.folder / f"{len(self.shops)}", kiosk or {}, **screens)
        self.shops.append(shop)
        return shop

    def page(self, url: str, width: int = 1280, height: int = 800, **features: str) -> Page:
        page = self.chromium.page(width, height, **features)
        self._pages.append(page)
        return page.open(url)

    def latest_page(self) -> Page:
        """Returns the window that a page has just opened."""
        page = self.chromium.latest_page()
        self._pages.append(page)
        return page

    def end(self) -> None:
        """Checks after a story that there are no console errors and no requests to other origins,
        and that the books are right."""
        complaints = [
            line
            for line in self.chromium.complaints()
            if not any(part in line for part in self.expected_complaints)
        ]
        expect("errors in the browser's console", complaints, [])
        own = [origin for shop in self.shops for origin in shop.origins] + list(self.foreign)
        asked = [a for a in self.chromium.requested_urls() if a.startswith("http") and not a.startswith(tuple(own))]
        expect("the requests to other origins", asked, [])
        for shop in self.shops:
            shop.verify()

    def keep_evidence(self) -> None:
        """Saves pictures and sources of all windows, and the logs of all programs."""
        folder = self.out / self.name
        folder.mkdir(parents=True, exist_ok=True)
        for number, page in enumerate(self._pages):
            try:
                (folder / f"{number}.png").write_bytes(page.picture())
                (folder / f"{number}.html").write_text(page.driver.page_source)
            except Exception as error:
                (folder / f"{number}.txt").write_text(str(error))
        for log in self.folder.glob("*/*.log"):
            shutil.copy(log, folder / f"{log.parent.name}-{log.name}")

    def close_pages(self) -> None:
        """Closes all windows."""
        self._pages.clear()
        self.chromium.close_pages()

    def close(self) -> None:
        for shop in self.shops:
            shop.close()
        self.chromium.forget()
        shutil.rmtree(self.folder, ignore_errors=True)
