"""The browser of the stories."""

from __future__ import annotations

import functools
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.common.exceptions import (
    NoSuchElementException,
    StaleElementReferenceException,
    TimeoutException,
    WebDriverException,
)
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

from .deadline import LIMIT, PATIENCE, eventually

FLAGS = (
    "--headless=new", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--mute-audio",
    "--enable-precise-memory-info", "--js-flags=--expose-gc", "--force-device-scale-factor=1",
    "--font-render-hinting=none", "--disable-lcd-text", "--disable-background-networking",
    # In a story with two pages, both must be drawn.
    "--disable-background-timer-throttling", "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding", "--autoplay-policy=no-user-gesture-required",
    # Chromium's own two pages per window for the address line are not needed.
    "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup",
)  # fmt: skip

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]

KEYS = {
    "Enter": Keys.ENTER, "Escape": Keys.ESCAPE, "Backspace": Keys.BACKSPACE, "Tab": Keys.TAB,
    "F8": Keys.F8, "Up": Keys.ARROW_UP, "Down": Keys.ARROW_DOWN, "Space": Keys.SPACE,
}  # fmt: skip


@functools.cache
def axe_source() -> str:
    """Returns the script axe-core, from the package axe-playwright-python."""
    package = Path(sys.prefix).glob("lib/python*/site-packages/axe_playwright_python/axe.min.js")
    return next(package).read_text()


class Chromium:
    """Debian's Chromium, without a window, with its own profile."""

    def __init__(self, folder: Path) -> None:
        options = webdriver.ChromeOptions()
        options.binary_location = "/usr/bin/chromium"
        for flag in FLAGS:
            options.add_argument(flag)
        folder.mkdir()
        options.add_argument(f"--user-data-dir={folder / 'profile'}")
        if os.geteuid() == 0:
            # Chromium's own sandbox does not run as root.
            options.add_argument("--no-sandbox")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        service = webdriver.ChromeService(
            "/usr/bin/chromedriver", log_output=str(folder / "chromedriver.log")
        )
        self.driver = webdriver.Chrome(service=service, options=options)
        self.driver.set_page_load_timeout(LIMIT * PATIENCE)
        self.driver.set_script_timeout(60 * PATIENCE)
        self._blank = self.driver.current_window_handle
        self._addresses: dict[str, str] = {}
        self._sizes: dict[str, int] = {}
        """The number of received bytes, by address."""

    def page(self, width: int = 1280, height: int = 800, **features: str) -> Page:
        """Opens a window of this size, and emulates media features such as
        `prefers_reduced_motion`."""
        self.driver.switch_to.window(self._blank)
        self.driver.switch_to.new_window("window")
        page = Page(self.driver, self.driver.current_window_handle)
        page.resize(width, height)
        if features:
            named = [{"name": n.replace("_", "-"), "value": v} for n, v in features.items()]
            page.protocol("Emulation.setEmulatedMedia", features=named)
        return page

    def latest_page(self) -> Page:
        """Returns the newest window."""
        return Page(self.driver, self.driver.window_handles[-1])

    def close_pages(self) -> None:
        """Closes all windows except the blank one."""
        for handle in self.driver.window_handles:
            if handle != self._blank:
                self.driver.switch_to.window(handle)
                self.driver.close()
        self.driver.switch_to.window(self._blank)

    def forget_cookies(self) -> None:
        """Deletes all cookies, and so logs the user out."""
        self.driver.execute_cdp_cmd("Network.clearBrowserCookies", {})

    def forget(self) -> None:
        """Closes all windows, and deletes the cookies and the recorded requests and console
        errors."""
        self.close_pages()
        self.driver.get("about:blank")
        self.forget_cookies()
        self.requested_urls()
        self._sizes.clear()
        self._addresses.clear()
        self.complaints()

    def network(self) -> list[dict[str, Any]]:
        """Returns the network events since the last call."""
        messages = (
            json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")
        )
        return [message for message in messages if message["method"].startswith("Network.")]

    def loaded(self, origin: str) -> int:
        """Returns the number of bytes that pages have received from an origin in this story."""
        self.requested_urls()
        return sum(size for address, size in self._sizes.items() if address.startswith(origin))

    def requested_urls(self) -> list[str]:
        """Returns the addresses that pages have requested in this story."""
        for event in self.network():
            parameters = event["params"]
            if event["method"] == "Network.requestWillBeSent":
                address = parameters["request"]["url"]
                self._addresses[parameters["requestId"]] = address
                self._sizes.setdefault(address, 0)
            elif event["method"] == "Network.loadingFinished":
                address = self._addresses.get(parameters["requestId"], "")
                self._sizes[address] = self._sizes.get(address, 0) + int(parameters["encodedDataLength"])
        return list(self._sizes)

    def complaints(self) -> list[str]:
        """Returns the pages' console errors since the last call."""
        return [e["message"] for e in self.driver.get_log("browser") if e["level"] == "SEVERE"]

    def quit(self) -> None:
        self.driver.quit()


class Page:
    """A window."""

    def __init__(self, driver: webdriver.Chrome, handle: str) -> None:
        self._driver = driver
        self._handle = handle
        self._brings_axe = False

    @property
    def driver(self) -> webdriver.Chrome:
        """The driver, after a switch to this window."""
        if self._driver.current_window_handle != self._handle:
            self._driver.switch_to.window(self._handle)
        return self._driver

    def open(self, url: str) -> Page:
        self.driver.get(url)
        return self

    def resize(self, width: int, height: int) -> None:
        self.protocol(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def protocol(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Runs a command of the DevTools protocol, and returns its result."""
        answer: dict[str, Any] = self.driver.execute_cdp_cmd(method, parameters)
        return answer

    def script(self, source: str, *arguments: Any) -> Any:
        return self.driver.execute_script(source, *arguments)

    def run_async(self, source: str, *arguments: Any) -> Any:
        """Runs an asynchronous JavaScript function with this body, and returns its result."""
        wrapped = (
            "const done = arguments[arguments.length - 1], given = [...arguments].slice(0, -1);"
            f"(async (...arguments) => {{ {source} }})(...given)"
            ".then(value => done({ value }), error => done({ error: String(error) }))"
        )
        answer = self.driver.execute_async_script(wrapped, *arguments)
        if "error" in answer:
            raise AssertionError(answer["error"])
        return answer.get("value")

    def find(self, selector: str) -> WebElement:
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def text(self, selector: str = "body") -> str:
        """Returns the text of the visible elements that match; empty if there are none."""
        found: str = self.script(
            "return [...document.querySelectorAll(arguments[0])].filter(e => e.checkVisibility())"
            ".map(e => e.innerText).join('\\n')",
            selector,
        )
        return found.strip()

    def press(self, *keys: str) -> None:
        """Sends keys to the focused element. The names in KEYS, such as `Enter`, are special
        keys."""
        for key in keys:
            self.driver.switch_to.active_element.send_keys(KEYS.get(key, key))

    def type(self, text: str) -> None:
        """Types as slowly as a person. The till's page takes faster keys for a scanner's."""
        for key in text:
            ActionChains(self.driver).send_keys(key).pause(0.08).perform()

    def focus(self) -> str:
        """Returns the id of the focused element."""
        found: str = self.script("return document.activeElement?.id ?? ''")
        return found

    def leave(self, selector: str) -> None:
        """Clicks a link or button that opens another page, and waits until that page is loaded."""

        def pressed() -> WebElement:
            # The order matters: if the page reloads between the two calls, the click fails.
            button, old = self.find(selector), self.find("html")
            button.click()
            return old

        old = self.wait(f"{selector} to be pressed", lambda _: pressed())

        def is_gone() -> bool:
            try:
                old.is_enabled()
                return False
            except (StaleElementReferenceException, NoSuchElementException):
                return True
            except WebDriverException:
                return False

        eventually("the old page to end", is_gone)
        eventually("the new page to be loaded", lambda: self.script("return document.readyState") == "complete")

    def wait(self, what: str, condition: Callable[[Page], Any], seconds: float = LIMIT) -> Any:
        """Repeats a check until its result is true, and returns the result."""

        def steady() -> Any:
            try:
                return condition(self)
            except StaleElementReferenceException:
                return None
            except TimeoutException as late:
                # The window loads another page during the check.
                if not any(words in str(late.msg) for words in ("aborted by navigation", "no such execution context")):
                    raise
                return None

        try:
            return eventually(what, steady, seconds)
        except AssertionError as late:
            raise AssertionError(f"{late}; the page says: {self.text()[:300]!r}") from late

    def wait_for_text(self, text: str, selector: str = "body", seconds: float = LIMIT) -> None:
        self.wait(f"{text!r} in {selector}", lambda page: text in page.text(selector), seconds)

    def faults(self) -> list[str]:
        """Returns the problems that axe finds in the page. The first call makes the window inject
        axe into its later pages too, because sending the script takes as long as running it."""
        if not self._brings_axe:
            self._brings_axe = True
            self.protocol("Page.addScriptToEvaluateOnNewDocument", source=axe_source())
            self.script(axe_source())
        found = self.run_async(
            "return (await axe.run({ runOnly: arguments[0], resultTypes: ['violations'] }))"
            ".violations.map(v => [v.id, ...v.nodes.slice(0, 3).map(n => n.target.join(' '))])",
            RULES,
        )
        return [" ".join(each) for each in found]

    def memory(self) -> dict[str, int]:
        """Returns the bytes of the heap and the numbers of nodes and listeners after a garbage
        collection."""
        self.protocol("Performance.enable")
        self.protocol("HeapProfiler.collectGarbage")
        metrics = self.protocol("Performance.getMetrics")["metrics"]
        values = {each["name"]: int(each["value"]) for each in metrics}
        return {
            "heap": values["JSHeapUsedSize"],
            "nodes": values["Nodes"],
            "listeners": values["JSEventListeners"],
        }

    def picture(self) -> bytes:
        """Returns a PNG of the page in the window's size."""
        return self.driver.get_screenshot_as_png()
